// What XLA calls: buffers in, a call of the kernels, buffers out.

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "instruction_sets.h"
#include "operands.h"
#include "shared_work.h"

namespace lga {

// Of XLA's headers that this was compiled against.
extern "C" int lga_interface() { return 1000 * XLA_FFI_API_MAJOR + XLA_FFI_API_MINOR; }

extern "C" const char* lga_source_digest() { return LGA_SOURCE_DIGEST; }

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
  run(call, chosen_kernels().select, pool);
  return ffi::Error::Success();
}

ffi::Error sample(ffi::ThreadPool pool, F32 fitness, S32 age, F32 best_fitness, S32 generation, F32 uniform, F32 attend,
                  F32 value, ffi::Result<S32> chosen) {
  Sample call;
  Operands operands("sample", *chosen, 1, call.batch);
  const int64_t e = call.num_parents = length(fitness, 1);
  const int64_t n = call.num_children = length(*chosen, 1);
  const int64_t h = call.num_heads = length(attend, 3);
  call.fitness = operands.input("fitness", fitness, {e});
  call.age = operands.input("age", age, {e});
  call.best_fitness = operands.input("best_fitness", best_fitness, {});
  call.generation = operands.input("generation", generation, {});
  call.uniform = operands.input("uniform", uniform, {n});
  call.attend = operands.input("attend", attend, {h, 5, 5});
  call.value = operands.input("value", value, {h, 5});
  call.chosen = operands.output("chosen", chosen, {n});
  if (e == 0) operands.refuse("fitness has no rows.");
  if (operands.error.failure()) return operands.error;
  run(call, chosen_kernels().sample, pool);
  return ffi::Error::Success();
}

ffi::Error blend(ffi::ThreadPool pool, F32 fitness, S32 age, F32 best_fitness, S32 generation, F32 solutions, F32 sigma,
                 S32 parent_index, F32 attend, F32 gate_kernel, F32 gate_bias, ffi::Result<F32> blended,
                 ffi::Result<F32> away) {
  Blend call;
  Operands operands("blend", *blended, 2, call.batch);
  const int64_t e = call.num_parents = length(fitness, 1);
  const int64_t n = call.num_children = length(*blended, 2);
  const int64_t d = call.num_dims = length(*blended, 1);
  const int64_t h = call.num_heads = length(attend, 3);
  call.fitness = operands.input("fitness", fitness, {e});
  call.age = operands.input("age", age, {e});
  call.best_fitness = operands.input("best_fitness", best_fitness, {});
  call.generation = operands.input("generation", generation, {});
  call.solutions = operands.input("solutions", solutions, {e, d});
  call.sigma = operands.input("sigma", sigma, {e});
  call.parent_index = operands.input("parent_index", parent_index, {n});
  call.attend = operands.input("attend", attend, {h, 5, 5});
  call.gate_kernel = operands.input("gate_kernel", gate_kernel, {4, h});
  call.gate_bias = operands.input("gate_bias", gate_bias, {h});
  call.blended = operands.output("blended", blended, {n, d});
  call.away = operands.output("away", away, {n});
  if (e == 0) operands.refuse("fitness has no rows.");
  if (h == 0) operands.refuse("attend has no rows.");
  if (operands.error.failure()) return operands.error;
  expect_to_fill(blended->untyped_data(), blended->size_bytes());
  run(call, chosen_kernels().blend, pool);
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
  run(call, chosen_kernels().rate, pool);
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
  run(call, chosen_kernels().mutate, pool);
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
  run(call, chosen_kernels().bend, pool);
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
  run(call, chosen_kernels().adapt, pool);
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
  run(call, chosen_kernels().survive, pool);
  return ffi::Error::Success();
}

ffi::Error convolve(ffi::ThreadPool pool, F32 images, F32 filters, F32 bias, bool pooled, ffi::Result<F32> convolved) {
  Convolve call;
  Operands operands("convolve", *convolved, 4, call.batch);
  const int64_t b = call.num_images = length(images, 4), h = call.height = length(images, 3);
  const int64_t w = call.width = length(images, 2), c = call.num_channels = length(images, 1);
  const int64_t k = call.filter_width = length(filters, 4), f = call.num_filters = length(filters, 1);
  const int64_t parts = pooled ? 2 : 1;
  call.pooled = pooled;
  call.images = operands.input("images", images, {b, h, w, c});
  call.filters = operands.input("filters", filters, {k, k, c, f});
  call.bias = operands.input("bias", bias, {f});
  call.convolved = operands.output("convolved", convolved, {b, h / parts, w / parts, f});
  if (k % 2 == 0) operands.refuse("filters have an even width.");
  if (operands.error.failure()) return operands.error;
  run(call, chosen_kernels().convolve, pool);
  return ffi::Error::Success();
}

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

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_sample, sample,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()  // fitness
                                  .Arg<S32>()  // age
                                  .Arg<F32>()  // best_fitness
                                  .Arg<S32>()  // generation
                                  .Arg<F32>()  // uniform
                                  .Arg<F32>()  // attend
                                  .Arg<F32>()  // value
                                  .Ret<S32>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_blend, blend,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()   // fitness
                                  .Arg<S32>()   // age
                                  .Arg<F32>()   // best_fitness
                                  .Arg<S32>()   // generation
                                  .Arg<F32>()   // solutions
                                  .Arg<F32>()   // sigma
                                  .Arg<S32>()   // parent_index
                                  .Arg<F32>()   // attend
                                  .Arg<F32>()   // gate_kernel
                                  .Arg<F32>()   // gate_bias
                                  .Ret<F32>()   // blended
                                  .Ret<F32>());  // away

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

XLA_FFI_DEFINE_HANDLER_SYMBOL(lga_convolve, convolve,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<F32>()  // images
                                  .Arg<F32>()  // filters
                                  .Arg<F32>()  // bias
                                  .Attr<bool>("pooled")
                                  .Ret<F32>());

}  // namespace lga
