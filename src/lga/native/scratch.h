// Memory that the kernels work in, and sums over it.

#pragma once

#include "vector.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// Individuals whose terms are added up before they join a sum over all: rounding errors grow with the longest chain.
constexpr int64_t kSumBlock = 32;

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// An index as JAX's gather takes it: counted from the end if negative, and never outside.
inline int64_t within(int64_t index, int64_t size) {
  if (index < 0) index += size;
  return index < 0 ? 0 : least(index, size - 1);
}

inline void copy(const float* from, int64_t count, float* to) { std::memcpy(to, from, count * sizeof(float)); }

// Scratch memory that starts as zeros. No std::vector: its functions would be merged over the instruction sets by the
// linker, and an old processor would get those of a new one.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : data_(new T[count]()) {}
  ~Scratch() { delete[] data_; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_;
};

// Columns of numbers, one for each feature, with room for a whole vector behind the last one.
template <int F>
class Columns {
 public:
  explicit Columns(int64_t count) : length_(padded(count) + kLanes), numbers_(F * length_) {}
  float* operator[](int feature) { return numbers_.data() + feature * length_; }
  const float* operator[](int feature) const { return numbers_.data() + feature * length_; }

 private:
  int64_t length_;
  Scratch<float> numbers_;
};

// Rows of a matrix, padded with zeros to whole vectors.
class Rows {
 public:
  Rows(int64_t num_rows, int64_t num_columns) : width_(padded(num_columns)), numbers_(num_rows * width_) {}
  float* operator[](int64_t row) { return numbers_.data() + row * width_; }
  const float* operator[](int64_t row) const { return numbers_.data() + row * width_; }

 private:
  int64_t width_;
  Scratch<float> numbers_;
};

// A row + scale * a padded row.
inline void add_scaled(const float* row, float scale, const float* other, int64_t count, float* sums) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(sums + i, load(row + i) + scale * load(other + i));
  if (i < count) store_some(sums + i, load_some(row + i, count - i) + scale * load(other + i), count - i);
}

// The padding is a copy of a value, so that it changes neither the least nor the most.
inline void pad(float* values, int64_t count) {
  for (int64_t i = count; i < padded(count); ++i) values[i] = values[0];
}

// The sum of a term of each number; the term of zero must be zero.
template <typename Term>
inline float total(const float* numbers, int64_t count, Term term) {
  Floats settled{};
  for (int64_t block = 0; block < count; block += kSumBlock) {
    const int64_t end = least(block + kSumBlock, count);
    Floats recent{};
    int64_t i = block;
    for (; i + kLanes <= end; i += kLanes) recent += term(load(numbers + i));
    if (i < end) recent += term(load_some(numbers + i, end - i));
    settled += recent;
  }
  return sum(settled);
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
