// Square filters over images, for networks that each have their own: XLA's code for CPUs has no fast path for these.

#pragma once

#include "scratch.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// Pixels of a row that are worked on together: enough sums that do not wait for each other, and few enough for registers.
constexpr int64_t kMostPixels = 8;

// The numbers of one filter lie `stride` apart, so that a register holds one number of each of kLanes filters.
struct Filters {
  const float* numbers;
  int64_t stride, num_rows, row_length;
};

// kLanes filters over P neighbouring pixels. The numbers that a filter meets in one row of the image lie side by side.
template <int P>
inline void filtered_pixels(const Filters& filters, const float* image, int64_t image_stride, int64_t pixel_stride,
                            Floats bias, float* to, int64_t to_stride) {
  Floats sums[P];
  for (int p = 0; p < P; ++p) sums[p] = bias;
  const float* numbers = filters.numbers;
  for (int64_t row = 0; row < filters.num_rows; ++row, image += image_stride)
    for (int64_t i = 0; i < filters.row_length; ++i, numbers += filters.stride) {
      const Floats number = load(numbers);
      for (int p = 0; p < P; ++p) sums[p] += number * image[p * pixel_stride + i];
    }
  for (int p = 0; p < P; ++p) store(to + p * to_stride, sums[p]);
}

template <int P = kMostPixels>
inline void filtered(int64_t num_pixels, const Filters& filters, const float* image, int64_t image_stride,
                     int64_t pixel_stride, Floats bias, float* to, int64_t to_stride) {
  if constexpr (P > 0) {
    if (num_pixels == P)
      filtered_pixels<P>(filters, image, image_stride, pixel_stride, bias, to, to_stride);
    else
      filtered<P - 1>(num_pixels, filters, image, image_stride, pixel_stride, bias, to, to_stride);
  }
}

// One network's filters, padded to whole registers, and room for one image with a border of zeros and for two rows.
class Convolution {
 public:
  explicit Convolution(const Convolve& call)
      : call_(call),
        width_(padded(call.num_filters)),
        border_(call.filter_width / 2),
        row_length_(call.filter_width * call.num_channels),
        image_stride_((call.width + call.filter_width - 1) * call.num_channels),
        numbers_(call.filter_width * row_length_ * width_),
        bias_(width_),
        image_((call.height + call.filter_width - 1) * image_stride_),
        rows_(2 * call.width * width_) {}

  void take_filters(int64_t run) {
    const float* filters = call_.filters.at(call_.batch, run);
    for (int64_t i = 0; i < call_.filter_width * row_length_; ++i)
      copy(filters + i * call_.num_filters, call_.num_filters, numbers_.data() + i * width_);
    copy(call_.bias.at(call_.batch, run), call_.num_filters, bias_.data());
  }

  void convolve(const float* image, float* to) {
    for (int64_t y = 0; y < call_.height; ++y)
      copy(image + y * call_.width * call_.num_channels, call_.width * call_.num_channels,
           image_.data() + (y + border_) * image_stride_ + border_ * call_.num_channels);
    const int64_t num_rows = call_.pooled ? 2 : 1;
    for (int64_t y = 0; y + num_rows <= call_.height; y += num_rows) {
      for (int64_t row = 0; row < num_rows; ++row) row_of_sums(y + row, rows_.data() + row * call_.width * width_);
      const int64_t num_pixels = call_.width / num_rows;
      for (int64_t x = 0; x < num_pixels; ++x, to += call_.num_filters) put_pixel(x, to);
    }
  }

 private:
  void row_of_sums(int64_t y, float* sums) {
    const int64_t at_once = blocks(call_.width, blocks(call_.width, kMostPixels));
    for (int64_t f = 0; f < width_; f += kLanes) {
      const Filters filters{numbers_.data() + f, width_, call_.filter_width, row_length_};
      for (int64_t x = 0; x < call_.width; x += at_once)
        filtered(least(at_once, call_.width - x), filters, image_.data() + y * image_stride_ + x * call_.num_channels,
                 image_stride_, call_.num_channels, load(bias_.data() + f), sums + x * width_ + f, width_);
    }
  }

  // All filters at one pixel, or the largest that each has among four.
  void put_pixel(int64_t x, float* to) const {
    for (int64_t f = 0; f < call_.num_filters; f += kLanes) {
      const float* sums = rows_.data() + (call_.pooled ? 2 * x : x) * width_ + f;
      Floats value = load(sums);
      if (call_.pooled) {
        const float* below = sums + call_.width * width_;
        value = larger(larger(value, load(sums + width_)), larger(load(below), load(below + width_)));
      }
      store_some(to + f, value, least(kLanes, call_.num_filters - f));
    }
  }

  const Convolve& call_;
  const int64_t width_, border_, row_length_, image_stride_;
  Scratch<float> numbers_, bias_, image_, rows_;
};

inline void convolve(const Convolve& call, int64_t begin, int64_t end) {
  Convolution convolution(call);
  const int64_t image_size = call.height * call.width * call.num_channels;
  const int64_t parts = call.pooled ? 2 : 1;
  const int64_t result_size = (call.height / parts) * (call.width / parts) * call.num_filters;
  for (int64_t unit = begin, known = -1; unit < end; ++unit) {
    const int64_t run = unit / call.num_images, image = unit % call.num_images;
    if (run != known) convolution.take_filters(run);
    known = run;
    convolution.convolve(call.images.at(call.batch, run) + image * image_size,
                         call.convolved.at(call.batch, run) + image * result_size);
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
