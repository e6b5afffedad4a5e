// What XLA calls for random keys and numbers.

#include <cstring>

#include "instruction_sets.h"
#include "operands.h"

namespace lga {

// The first keys that a key splits into, each a result of its own, so that no slices have to be cut.
ffi::Error split(U32 key, ffi::RemainingRets keys) {
  constexpr int64_t kMostKeys = 16;
  const int64_t count = static_cast<int64_t>(keys.size());
  if (count < 1 || count > kMostKeys) return ffi::Error::InvalidArgument("lga: a key is split into 1 to 16 keys.");
  auto first = keys.get<U32>(0);
  if (!first) return first.error();
  Batch batch;
  Operands operands("split", **first, 1, batch);
  const auto from = operands.input("key", key, {2});
  Operand<uint32_t> results[kMostKeys];
  for (int64_t i = 0; i < count; ++i) {
    auto result = keys.get<U32>(i);
    if (!result) return result.error();
    results[i] = operands.output("a new key", *result, {2});
  }
  if (operands.error.failure()) return operands.error;
  for (int64_t run = 0; run < batch.count; ++run) {
    uint32_t words[2 * kMostKeys];
    chosen_kernels().split(from.at(batch, run), 0, count, words);
    for (int64_t i = 0; i < count; ++i) std::memcpy(results[i].at(batch, run), words + 2 * i, 2 * sizeof(uint32_t));
  }
  return ffi::Error::Success();
}

ffi::Error fold_in(U32 key, S32 data, ffi::Result<U32> folded) {
  Batch batch;
  Operands operands("fold_in", *folded, 1, batch);
  const auto from = operands.input("key", key, {2});
  const auto numbers = operands.input("data", data, {});
  const auto results = operands.output("the new key", folded, {2});
  if (operands.error.failure()) return operands.error;
  for (int64_t run = 0; run < batch.count; ++run) {
    const int64_t position = static_cast<uint32_t>(*numbers.at(batch, run));
    chosen_kernels().split(from.at(batch, run), position, 1, results.at(batch, run));
  }
  return ffi::Error::Success();
}

ffi::Error uniform(U32 key, ffi::Result<F32> numbers) {
  Batch batch;
  Operands operands("uniform", *numbers, 1, batch);
  const int64_t count = length(*numbers, 1);
  const auto from = operands.input("key", key, {2});
  const auto results = operands.output("numbers", numbers, {count});
  if (operands.error.failure()) return operands.error;
  for (int64_t run = 0; run < batch.count; ++run)
    chosen_kernels().uniform(from.at(batch, run), count, results.at(batch, run));
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_split, split,
                              ffi::Ffi::Bind()
                                  .Arg<U32>()  // key
                                  .RemainingRets());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_fold_in, fold_in,
                              ffi::Ffi::Bind()
                                  .Arg<U32>()  // key
                                  .Arg<S32>()  // data
                                  .Ret<U32>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_uniform, uniform,
                              ffi::Ffi::Bind()
                                  .Arg<U32>()  // key
                                  .Ret<F32>());

}  // namespace lga
