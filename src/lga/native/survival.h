// The next archive, as in algorithms/genetic.py.

#pragma once

#include "scratch.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

inline void copy_row(const float* from, int64_t count, float* to) {
  if (count > kLanes)
    copy(from, count, to);
  else
    store_some(to, load_some(from, count), count);
}

inline void survive(const Survive& call, int64_t begin, int64_t end) {
  const int64_t num_children = call.num_children, num_parents = call.num_parents, num_dims = call.num_dims;
  const Batch& batch = call.batch;
  for (int64_t unit = begin; unit < end;) {
    const int64_t run = unit / call.units_per_run(), first = unit % call.units_per_run();
    const int64_t last = least(first + (end - unit), call.units_per_run());
    const float* child_solutions = call.child_solutions.at(batch, run);
    const float* child_fitness = call.child_fitness.at(batch, run);
    const float* child_sigma = call.child_sigma.at(batch, run);
    const float* parent_solutions = call.parent_solutions.at(batch, run);
    const float* parent_fitness = call.parent_fitness.at(batch, run);
    const float* parent_sigma = call.parent_sigma.at(batch, run);
    const int32_t* parent_age = call.parent_age.at(batch, run);
    const int32_t* survivor_index = call.survivor_index.at(batch, run);
    float* solutions = call.solutions.at(batch, run);
    float* fitness = call.fitness.at(batch, run);
    float* sigma = call.sigma.at(batch, run);
    int32_t* age = call.age.at(batch, run);
    for (int64_t e = first; e < least(last, num_parents); ++e) {
      const int64_t index = within(survivor_index[e], num_children + num_parents), parent = index - num_children;
      const bool is_child = index < num_children;
      copy_row(is_child ? child_solutions + index * num_dims : parent_solutions + parent * num_dims, num_dims,
               solutions + e * num_dims);
      fitness[e] = is_child ? child_fitness[index] : parent_fitness[parent];
      sigma[e] = is_child ? child_sigma[index] : parent_sigma[parent];
      age[e] = is_child ? 0 : parent_age[parent] + 1;
    }
    if (last == call.units_per_run()) {
      int64_t best = 0;
      int32_t failures = 0;
      for (int64_t n = 0; n < num_children; ++n) {
        if (child_fitness[n] < child_fitness[best]) best = n;
        failures += child_fitness[n] >= kFailed;
      }
      const float best_before = *call.best_fitness.at(batch, run);
      const bool better = child_fitness[best] < best_before;
      copy_row(better ? child_solutions + best * num_dims : call.best_solution.at(batch, run), num_dims,
               call.new_best_solution.at(batch, run));
      *call.new_best_fitness.at(batch, run) = better ? child_fitness[best] : best_before;
      *call.failures.at(batch, run) = failures;
    }
    unit += last - first;
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
