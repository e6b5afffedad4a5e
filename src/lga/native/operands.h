// From XLA's buffers to the operands of a call, shapes checked.
//
// `jax.ffi.ffi_call(..., vmap_method="expand_dims")` puts batch axes in front: full ones on results, full ones or ones of
// size 1 on operands.

#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

#include "kernels.h"
#include "xla/ffi/api/ffi.h"

namespace lga {

namespace ffi = xla::ffi;

using F32 = ffi::Buffer<ffi::F32>;
using S32 = ffi::Buffer<ffi::S32>;
using U32 = ffi::Buffer<ffi::U32>;

// The length of an axis; -1 where there is none, which no shape allows.
template <typename Buffer>
int64_t length(const Buffer& buffer, int64_t axis_from_end) {
  const auto dimensions = buffer.dimensions();
  const int64_t axis = static_cast<int64_t>(dimensions.size()) - axis_from_end;
  return axis < 0 ? -1 : dimensions[axis];
}

// Turns the buffers of one call into operands, and remembers what is wrong with the first that does not have the shape
// that the kernel will read or write: the given shape of one run, behind the batch axes.
class Operands {
 public:
  using Shape = std::initializer_list<int64_t>;
  ffi::Error error = ffi::Error::Success();

  // A result has all batch axes in full.
  template <typename Buffer>
  Operands(const char* handler, const Buffer& result, int64_t own_rank, Batch& batch) : handler_(handler), batch_(batch) {
    const auto dimensions = result.dimensions();
    batch.rank = static_cast<int64_t>(dimensions.size()) - own_rank;
    if (batch.rank < 0 || batch.rank > kMaxBatchAxes) {
      batch.rank = 0;
      refuse("a result has shape " + text(dimensions) + ", but must have " + std::to_string(own_rank) +
             " axes of its own behind up to six batch axes.");
    }
    for (int64_t axis = 0; axis < batch.rank; ++axis) {
      batch.size[axis] = dimensions[axis];
      batch.count *= dimensions[axis];
    }
  }

  template <ffi::DataType type>
  auto input(const char* name, const ffi::Buffer<type>& buffer, Shape own) {
    return operand<const ffi::NativeType<type>>(name, buffer, own, true);
  }

  template <ffi::DataType type>
  auto output(const char* name, ffi::Result<ffi::Buffer<type>>& buffer, Shape own) {
    return operand<ffi::NativeType<type>>(name, *buffer, own, false);
  }

  void refuse(const std::string& why) {
    if (error.success()) error = ffi::Error::InvalidArgument("lga_" + std::string(handler_) + ": " + why);
  }

 private:
  const char* handler_;
  const Batch& batch_;

  template <typename T, typename Buffer>
  Operand<T> operand(const char* name, const Buffer& buffer, Shape own, bool may_be_shared) {
    const auto dimensions = buffer.dimensions();
    Operand<T> result;
    if (!fits(dimensions, own, may_be_shared)) {
      refuse(std::string(name) + " has shape " + text(dimensions) + ", but must be " + text(own) + " behind batch axes " +
             text(ffi::Span<const int64_t>(batch_.size, batch_.rank)) + (may_be_shared ? " or of size 1." : "."));
      return result;
    }
    result.data = buffer.typed_data();
    int64_t stride = 1;
    for (int64_t size : own) stride *= size;
    for (int64_t axis = batch_.rank; axis-- > 0; stride *= dimensions[axis])
      result.stride[axis] = dimensions[axis] == 1 ? 0 : stride;
    return result;
  }

  template <typename Dimensions>
  bool fits(const Dimensions& dimensions, Shape own, bool may_be_shared) const {
    if (dimensions.size() != static_cast<size_t>(batch_.rank) + own.size()) return false;
    for (int64_t axis = 0; axis < batch_.rank; ++axis)
      if (dimensions[axis] != batch_.size[axis] && !(may_be_shared && dimensions[axis] == 1)) return false;
    return std::equal(own.begin(), own.end(), dimensions.begin() + batch_.rank);
  }

  template <typename Dimensions>
  static std::string text(const Dimensions& dimensions) {
    std::string result;
    for (int64_t size : dimensions) result += (result.empty() ? "" : ", ") + std::to_string(size);
    return "[" + result + "]";
  }
};

}  // namespace lga
