// What XLA calls: buffers in, a call of the kernels, buffers out.
//
// `jax.ffi.ffi_call(..., vmap_method="expand_dims")` puts batch axes in front: full ones on results, full ones or ones of
// size 1 on operands.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>

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

// Of XLA's headers that this was compiled against.
extern "C" int lga_interface() { return 1000 * XLA_FFI_API_MAJOR + XLA_FFI_API_MINOR; }

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
  // A few portions per thread, so that a late one does not hold up the others.
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

// ---- handlers ----

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
    chosen_set.load()->kernels->split(from.at(batch, run), 0, count, words);
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
    chosen_set.load()->kernels->split(from.at(batch, run), position, 1, results.at(batch, run));
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
    chosen_set.load()->kernels->uniform(from.at(batch, run), count, results.at(batch, run));
  return ffi::Error::Success();
}

ffi::Error select(ffi::ThreadPool pool, F32 parent_fitness, F32 child_fitness, F32 best_fitness, F32 uniform, F32 attend,
                  F32 score, ffi::Result<S32> chosen) {
  Select call;
  Operands operands("select", *chosen, 1, call.batch);
  const int64_t e = call.num_parents = length(parent_fitness, 1);
  const int64_t n = call.num_children = length(child_fitness, 1);
  const int64_t h = call.num_heads = length(attend, 3);
  call.parent_fitness = operands.input("parent_fitness", parent_fitness, {e});
  call.child_fitness = operands.input("child_fitness", child_fitness, {n});
  call.best_fitness = operands.input("best_fitness", best_fitness, {});
  call.uniform = operands.input("uniform", uniform, {e});
  call.attend = operands.input("attend", attend, {h, 4, 4});
  call.score = operands.input("score", score, {h, 4, 4});
  call.chosen = operands.output("chosen", chosen, {e});
  if (n == 0) operands.refuse("child_fitness has no rows.");
  if (operands.error.failure()) return operands.error;
  run(call, chosen_set.load()->kernels->select, pool);
  return ffi::Error::Success();
}

ffi::Error rate(ffi::ThreadPool pool, F32 fitness, F32 sigma, F32 best_fitness, F32 attend, F32 value,
                ffi::Result<F32> multiplier) {
  Rate call;
  Operands operands("rate", *multiplier, 1, call.batch);
  const int64_t n = call.num_children = length(fitness, 1);
  const int64_t h = call.num_heads = length(attend, 3);
  call.fitness = operands.input("fitness", fitness, {n});
  call.sigma = operands.input("sigma", sigma, {n});
  call.best_fitness = operands.input("best_fitness", best_fitness, {});
  call.attend = operands.input("attend", attend, {h, 6, 6});
  call.value = operands.input("value", value, {h, 6});
  call.multiplier = operands.output("multiplier", multiplier, {n});
  if (operands.error.failure()) return operands.error;
  run(call, chosen_set.load()->kernels->rate, pool);
  return ffi::Error::Success();
}

ffi::Error mutate(ffi::ThreadPool pool, U32 key, F32 solutions, S32 parent_index, F32 sigma, ffi::Result<F32> mutated) {
  Mutate call;
  Operands operands("mutate", *mutated, 2, call.batch);
  const int64_t e = call.num_parents = length(solutions, 2);
  const int64_t n = call.num_children = length(*mutated, 2);
  const int64_t d = call.num_dims = length(*mutated, 1);
  call.key = operands.input("key", key, {2});
  call.solutions = operands.input("solutions", solutions, {e, d});
  call.parent_index = operands.input("parent_index", parent_index, {n});
  call.sigma = operands.input("sigma", sigma, {n});
  call.mutated = operands.output("mutated", mutated, {n, d});
  // Indices outside are drawn to the nearest row, so there must be one.
  if (e == 0) operands.refuse("solutions has no rows.");
  if (operands.error.failure()) return operands.error;
  expect_to_fill(mutated->untyped_data(), mutated->size_bytes());
  run(call, chosen_set.load()->kernels->mutate, pool);
  return ffi::Error::Success();
}

ffi::Error bend(ffi::ThreadPool pool, F32 start, F32 sigma, F32 noise, F32 drift, F32 stretch, ffi::Result<F32> bent) {
  Bend call;
  Operands operands("bend", *bent, 2, call.batch);
  const int64_t n = call.num_children = length(*bent, 2);
  const int64_t d = call.num_dims = length(*bent, 1);
  call.start = operands.input("start", start, {n, d});
  call.sigma = operands.input("sigma", sigma, {n});
  call.noise = operands.input("noise", noise, {n, d});
  call.drift = operands.input("drift", drift, {d});
  call.stretch = operands.input("stretch", stretch, {d, d});
  call.bent = operands.output("bent", bent, {n, d});
  if (operands.error.failure()) return operands.error;
  run(call, chosen_set.load()->kernels->bend, pool);
  return ffi::Error::Success();
}

ffi::Error adapt(ffi::ThreadPool pool, F32 fitness, F32 noise, F32 path, F32 stretch, F32 strengths,
                 ffi::Result<F32> new_path, ffi::Result<F32> new_stretch, ffi::Result<F32> factor) {
  Adapt call;
  Operands operands("adapt", *new_path, 1, call.batch);
  const int64_t n = call.num_children = length(fitness, 1);
  const int64_t d = call.num_dims = length(*new_path, 1);
  call.fitness = operands.input("fitness", fitness, {n});
  call.noise = operands.input("noise", noise, {n, d});
  call.path = operands.input("path", path, {d});
  call.stretch = operands.input("stretch", stretch, {d, d});
  call.strengths = operands.input("strengths", strengths, {7});
  call.new_path = operands.output("new_path", new_path, {d});
  call.new_stretch = operands.output("new_stretch", new_stretch, {d, d});
  call.factor = operands.output("factor", factor, {});
  if (n == 0) operands.refuse("fitness has no rows.");
  if (operands.error.failure()) return operands.error;
  run(call, chosen_set.load()->kernels->adapt, pool);
  return ffi::Error::Success();
}

ffi::Error survive(ffi::ThreadPool pool, S32 survivor_index, F32 child_solutions, F32 child_fitness, F32 child_sigma,
                   F32 parent_solutions, F32 parent_fitness, F32 parent_sigma, S32 parent_age, F32 best_solution,
                   F32 best_fitness, ffi::Result<F32> solutions, ffi::Result<F32> fitness, ffi::Result<F32> sigma,
                   ffi::Result<S32> age, ffi::Result<F32> new_best_solution, ffi::Result<F32> new_best_fitness,
                   ffi::Result<S32> failures) {
  Survive call;
  Operands operands("survive", *age, 1, call.batch);
  const int64_t e = call.num_parents = length(*age, 1);
  const int64_t n = call.num_children = length(child_fitness, 1);
  const int64_t d = call.num_dims = length(child_solutions, 1);
  call.survivor_index = operands.input("survivor_index", survivor_index, {e});
  call.child_solutions = operands.input("child_solutions", child_solutions, {n, d});
  call.child_fitness = operands.input("child_fitness", child_fitness, {n});
  call.child_sigma = operands.input("child_sigma", child_sigma, {n});
  call.parent_solutions = operands.input("parent_solutions", parent_solutions, {e, d});
  call.parent_fitness = operands.input("parent_fitness", parent_fitness, {e});
  call.parent_sigma = operands.input("parent_sigma", parent_sigma, {e});
  call.parent_age = operands.input("parent_age", parent_age, {e});
  call.best_solution = operands.input("best_solution", best_solution, {d});
  call.best_fitness = operands.input("best_fitness", best_fitness, {});
  call.solutions = operands.output("solutions", solutions, {e, d});
  call.fitness = operands.output("fitness", fitness, {e});
  call.sigma = operands.output("sigma", sigma, {e});
  call.age = operands.output("age", age, {e});
  call.new_best_solution = operands.output("new_best_solution", new_best_solution, {d});
  call.new_best_fitness = operands.output("new_best_fitness", new_best_fitness, {});
  call.failures = operands.output("failures", failures, {});
  if (operands.error.failure()) return operands.error;
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

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_bend, bend,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()  // start
                                  .Arg<F32>()  // sigma
                                  .Arg<F32>()  // noise
                                  .Arg<F32>()  // drift
                                  .Arg<F32>()  // stretch
                                  .Ret<F32>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_adapt, adapt,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()   // fitness
                                  .Arg<F32>()   // noise
                                  .Arg<F32>()   // path
                                  .Arg<F32>()   // stretch
                                  .Arg<F32>()   // strengths
                                  .Ret<F32>()   // new_path
                                  .Ret<F32>()   // new_stretch
                                  .Ret<F32>());  // factor

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
