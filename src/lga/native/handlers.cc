// What XLA calls: buffers in, a call of the kernels, buffers out.
//
// `jax.ffi.ffi_call(..., vmap_method="expand_dims")` puts batch axes in front: full ones on results, full ones or ones of
// size 1 on operands.

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "kernels.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace lga {

// ---- choice of the instruction set ----

namespace baseline {
extern const Kernels kKernels;
}
#ifdef LGA_X86
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
#endif

struct InstructionSet {
  const char* name;
  const Kernels* kernels;
  bool is_supported;
};

// From the fastest to the one that runs everywhere.
const InstructionSet* instruction_sets() {
  static const InstructionSet sets[] = {
#ifdef LGA_X86
      {"avx512", &avx512::kKernels,
       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma")},
      {"avx2", &avx2::kKernels, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
#endif
      {"baseline", &baseline::kKernels, true},
      {nullptr, nullptr, true},
  };
  return sets;
}

const InstructionSet* fastest() {
  const InstructionSet* set = instruction_sets();
  while (!set->is_supported) ++set;
  return set;
}

std::atomic<const InstructionSet*> chosen_set{fastest()};

extern "C" const char* lga_instruction_set() { return chosen_set.load()->name; }

// For tests, which compare them all. False if this processor cannot run it.
extern "C" bool lga_use_instruction_set(const char* name) {
  for (const InstructionSet* set = instruction_sets(); set->name; ++set)
    if (set->is_supported && std::strcmp(set->name, name) == 0) {
      chosen_set = set;
      return true;
    }
  return false;
}

extern "C" const char* lga_source_digest() { return LGA_SOURCE_DIGEST; }

// ---- threads ----

// Calls below this cost (in vector operations, about) are over before another thread is awake.
constexpr int64_t kCostOfWaking = 1 << 19;

// Units that are handed out in portions to whichever thread asks next.
template <typename Call>
struct SharedWork {
  Call call;
  void (*kernel)(const Call&, int64_t, int64_t);
  int64_t num_units, portion;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable finished;
  int64_t num_done = 0;

  void take_part() {
    int64_t begin;
    while ((begin = next.fetch_add(portion)) < num_units) {
      const int64_t end = begin + portion < num_units ? begin + portion : num_units;
      kernel(call, begin, end);
      std::lock_guard<std::mutex> lock(mutex);
      num_done += end - begin;
      if (num_done == num_units) finished.notify_all();
    }
  }
};

template <typename Call>
void run(const Call& call, void (*kernel)(const Call&, int64_t, int64_t), ffi::ThreadPool& pool) {
  const int64_t num_units = call.batch.count * call.units_per_run();
  const int64_t num_threads = num_units * call.cost_of_unit() < kCostOfWaking ? 1 : pool.num_threads();
  if (num_threads <= 1) {
    kernel(call, 0, num_units);
    return;
  }
  auto work = std::make_shared<SharedWork<Call>>();
  work->call = call;
  work->kernel = kernel;
  work->num_units = num_units;
  // A few portions a thread, so that a late one does not hold up the others.
  work->portion = blocks(num_units, 4 * num_threads);
  for (int64_t helper = 1; helper < num_threads; ++helper) pool.Schedule([work] { work->take_part(); });
  // This thread works too, and then waits only for portions that others have begun: it never waits for a free thread.
  work->take_part();
  std::unique_lock<std::mutex> lock(work->mutex);
  work->finished.wait(lock, [&] { return work->num_done == num_units; });
}

// ---- memory ----

// A fresh buffer of this size or more is asked to be backed by huge pages: first touches of small ones would take as long
// as half of the noise.
constexpr uintptr_t kHugePage = uintptr_t{1} << 21;
constexpr uintptr_t kLargeBuffer = 4 * kHugePage;

void expect_to_fill(void* data, size_t size) {
#ifdef __linux__
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + size) / kHugePage * kHugePage;
  // Only a hint: whether the system follows it does not matter.
  if (size >= kLargeBuffer) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

// ---- from buffers to operands ----

using F32 = ffi::Buffer<ffi::F32>;
using S32 = ffi::Buffer<ffi::S32>;
using U32 = ffi::Buffer<ffi::U32>;

ffi::Error batch_of(ffi::Span<const int64_t> dimensions, int64_t own_rank, Batch& batch) {
  batch.rank = static_cast<int64_t>(dimensions.size()) - own_rank;
  if (batch.rank < 0 || batch.rank > kMaxBatchAxes)
    return ffi::Error::InvalidArgument("lga: the kernels take up to six batch axes.");
  for (int64_t axis = 0; axis < batch.rank; ++axis) {
    batch.size[axis] = dimensions[axis];
    batch.count *= dimensions[axis];
  }
  return ffi::Error::Success();
}

template <typename T, typename Dimensions>
Operand<T> operand(const Batch& batch, T* data, const Dimensions& dimensions) {
  Operand<T> result;
  result.data = data;
  int64_t stride = 1;
  for (int64_t axis = dimensions.size(); axis-- > batch.rank;) stride *= dimensions[axis];
  for (int64_t axis = batch.rank; axis-- > 0; stride *= dimensions[axis])
    result.stride[axis] = dimensions[axis] == 1 ? 0 : stride;
  return result;
}

template <ffi::DataType type>
auto input(const Batch& batch, const ffi::Buffer<type>& buffer) {
  using T = const ffi::NativeType<type>;
  return operand<T>(batch, buffer.typed_data(), buffer.dimensions());
}

template <ffi::DataType type>
auto output(const Batch& batch, ffi::Result<ffi::Buffer<type>>& buffer) {
  return operand(batch, buffer->typed_data(), buffer->dimensions());
}

template <typename Buffer>
int64_t length(const Buffer& buffer, int64_t axis_from_end) {
  const auto dimensions = buffer.dimensions();
  return dimensions[dimensions.size() - axis_from_end];
}

// ---- handlers ----

// The first keys that a key splits into, each a result of its own, so that no slices have to be cut.
ffi::Error split(U32 key, ffi::RemainingRets keys) {
  constexpr int64_t kMostKeys = 16;
  const int64_t count = static_cast<int64_t>(keys.size());
  if (count < 1 || count > kMostKeys) return ffi::Error::InvalidArgument("lga: a key is split into 1 to 16 keys.");
  Batch batch;
  Operand<uint32_t> results[kMostKeys];
  for (int64_t i = 0; i < count; ++i) {
    auto result = keys.get<U32>(i);
    if (!result) return result.error();
    if (i == 0)
      if (auto error = batch_of((*result)->dimensions(), 1, batch); error.failure()) return error;
    results[i] = output(batch, *result);
  }
  const Operand<const uint32_t> from = input(batch, key);
  for (int64_t run = 0; run < batch.count; ++run) {
    uint32_t words[2 * kMostKeys];
    chosen_set.load()->kernels->split(from.at(batch, run), 0, count, words);
    for (int64_t i = 0; i < count; ++i) std::memcpy(results[i].at(batch, run), words + 2 * i, 2 * sizeof(uint32_t));
  }
  return ffi::Error::Success();
}

ffi::Error fold_in(U32 key, S32 data, ffi::Result<U32> folded) {
  Batch batch;
  if (auto error = batch_of(folded->dimensions(), 1, batch); error.failure()) return error;
  const auto from = input(batch, key);
  const auto numbers = input(batch, data);
  const auto results = output(batch, folded);
  for (int64_t run = 0; run < batch.count; ++run) {
    const int64_t position = static_cast<uint32_t>(*numbers.at(batch, run));
    chosen_set.load()->kernels->split(from.at(batch, run), position, 1, results.at(batch, run));
  }
  return ffi::Error::Success();
}

ffi::Error uniform(U32 key, ffi::Result<F32> numbers) {
  Batch batch;
  if (auto error = batch_of(numbers->dimensions(), 1, batch); error.failure()) return error;
  const auto from = input(batch, key);
  const auto results = output(batch, numbers);
  for (int64_t run = 0; run < batch.count; ++run)
    chosen_set.load()->kernels->uniform(from.at(batch, run), length(*numbers, 1), results.at(batch, run));
  return ffi::Error::Success();
}

ffi::Error select(ffi::ThreadPool pool, F32 parent_fitness, F32 child_fitness, F32 best_fitness, F32 uniform, F32 attend,
                  F32 score, ffi::Result<S32> chosen) {
  Select call;
  if (auto error = batch_of(chosen->dimensions(), 1, call.batch); error.failure()) return error;
  call.num_parents = length(parent_fitness, 1);
  call.num_children = length(child_fitness, 1);
  call.num_heads = length(attend, 3);
  call.parent_fitness = input(call.batch, parent_fitness);
  call.child_fitness = input(call.batch, child_fitness);
  call.best_fitness = input(call.batch, best_fitness);
  call.uniform = input(call.batch, uniform);
  call.attend = input(call.batch, attend);
  call.score = input(call.batch, score);
  call.chosen = output(call.batch, chosen);
  run(call, chosen_set.load()->kernels->select, pool);
  return ffi::Error::Success();
}

ffi::Error rate(ffi::ThreadPool pool, F32 fitness, F32 sigma, F32 best_fitness, F32 attend, F32 value,
                ffi::Result<F32> multiplier) {
  Rate call;
  if (auto error = batch_of(multiplier->dimensions(), 1, call.batch); error.failure()) return error;
  call.num_children = length(fitness, 1);
  call.num_heads = length(attend, 3);
  call.fitness = input(call.batch, fitness);
  call.sigma = input(call.batch, sigma);
  call.best_fitness = input(call.batch, best_fitness);
  call.attend = input(call.batch, attend);
  call.value = input(call.batch, value);
  call.multiplier = output(call.batch, multiplier);
  run(call, chosen_set.load()->kernels->rate, pool);
  return ffi::Error::Success();
}

ffi::Error mutate(ffi::ThreadPool pool, U32 key, F32 solutions, S32 parent_index, F32 sigma, ffi::Result<F32> mutated) {
  Mutate call;
  if (auto error = batch_of(mutated->dimensions(), 2, call.batch); error.failure()) return error;
  call.num_parents = length(solutions, 2);
  call.num_children = length(*mutated, 2);
  call.num_dims = length(*mutated, 1);
  call.key = input(call.batch, key);
  call.solutions = input(call.batch, solutions);
  call.parent_index = input(call.batch, parent_index);
  call.sigma = input(call.batch, sigma);
  call.mutated = output(call.batch, mutated);
  expect_to_fill(mutated->untyped_data(), mutated->size_bytes());
  run(call, chosen_set.load()->kernels->mutate, pool);
  return ffi::Error::Success();
}

ffi::Error survive(ffi::ThreadPool pool, S32 survivor_index, F32 child_solutions, F32 child_fitness, F32 child_sigma,
                   F32 parent_solutions, F32 parent_fitness, F32 parent_sigma, S32 parent_age, F32 best_solution,
                   F32 best_fitness, ffi::Result<F32> solutions, ffi::Result<F32> fitness, ffi::Result<F32> sigma,
                   ffi::Result<S32> age, ffi::Result<F32> new_best_solution, ffi::Result<F32> new_best_fitness,
                   ffi::Result<S32> failures) {
  Survive call;
  if (auto error = batch_of(age->dimensions(), 1, call.batch); error.failure()) return error;
  call.num_parents = length(*age, 1);
  call.num_children = length(child_fitness, 1);
  call.num_dims = length(child_solutions, 1);
  call.survivor_index = input(call.batch, survivor_index);
  call.child_solutions = input(call.batch, child_solutions);
  call.child_fitness = input(call.batch, child_fitness);
  call.child_sigma = input(call.batch, child_sigma);
  call.parent_solutions = input(call.batch, parent_solutions);
  call.parent_fitness = input(call.batch, parent_fitness);
  call.parent_sigma = input(call.batch, parent_sigma);
  call.parent_age = input(call.batch, parent_age);
  call.best_solution = input(call.batch, best_solution);
  call.best_fitness = input(call.batch, best_fitness);
  call.solutions = output(call.batch, solutions);
  call.fitness = output(call.batch, fitness);
  call.sigma = output(call.batch, sigma);
  call.age = output(call.batch, age);
  call.new_best_solution = output(call.batch, new_best_solution);
  call.new_best_fitness = output(call.batch, new_best_fitness);
  call.failures = output(call.batch, failures);
  expect_to_fill(solutions->untyped_data(), solutions->size_bytes());
  run(call, chosen_set.load()->kernels->survive, pool);
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

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_select, select,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()  // parent_fitness
                                  .Arg<F32>()  // child_fitness
                                  .Arg<F32>()  // best_fitness
                                  .Arg<F32>()  // uniform
                                  .Arg<F32>()  // attend
                                  .Arg<F32>()  // score
                                  .Ret<S32>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_rate, rate,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()  // fitness
                                  .Arg<F32>()  // sigma
                                  .Arg<F32>()  // best_fitness
                                  .Arg<F32>()  // attend
                                  .Arg<F32>()  // value
                                  .Ret<F32>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_mutate, mutate,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<U32>()  // key
                                  .Arg<F32>()  // solutions
                                  .Arg<S32>()  // parent_index
                                  .Arg<F32>()  // sigma
                                  .Ret<F32>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_survive, survive,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<S32>()  // survivor_index
                                  .Arg<F32>()  // child_solutions
                                  .Arg<F32>()  // child_fitness
                                  .Arg<F32>()  // child_sigma
                                  .Arg<F32>()  // parent_solutions
                                  .Arg<F32>()  // parent_fitness
                                  .Arg<F32>()  // parent_sigma
                                  .Arg<S32>()  // parent_age
                                  .Arg<F32>()  // best_solution
                                  .Arg<F32>()  // best_fitness
                                  .Ret<F32>()  // solutions
                                  .Ret<F32>()  // fitness
                                  .Ret<F32>()  // sigma
                                  .Ret<S32>()  // age
                                  .Ret<F32>()  // best_solution
                                  .Ret<F32>()  // best_fitness
                                  .Ret<S32>());

}  // namespace lga
