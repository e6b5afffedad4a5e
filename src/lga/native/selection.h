// Selection, as in operators/selection.py.

#pragma once

#include "attention.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// A vector of parents, each with its uniform number, chooses among the children. Children come first in the features.
inline Ints choose(const Columns<3>& features, int64_t first_parent, int64_t num_children, int64_t num_heads,
                   const float* attend, const float* score, Floats uniform, float* logits) {
  constexpr int F = 3, G = F + 1;
  Floats asking[F], query[G], selection[G] = {};
  for (int f = 0; f < F; ++f) asking[f] = load(features[f] + num_children + first_parent);
  for (int64_t head = 0; head < num_heads; ++head, attend += G * G, score += G * G) {
    asking_forms<F>(asking, attend, query);
    const Floats most = logits_towards<F>(query, features, num_children, logits);
    Floats gathered[F] = {}, total{};
    for (int64_t block = 0; block < num_children; block += kSumBlock) {
      Floats sums[F] = {}, weights{};
      for (int64_t n = block; n < least(block + kSumBlock, num_children); ++n) {
        const Floats weight = exponential_of_negative(load(logits + n * kLanes) - most);
        for (int f = 0; f < F; ++f) sums[f] += weight * features[f][n];
        weights += weight;
      }
      for (int f = 0; f < F; ++f) gathered[f] += sums[f];
      total += weights;
    }
    for (int f = 0; f < F; ++f) gathered[f] /= total;
    Floats scored[G];
    asking_forms<F>(gathered, score, scored);
    for (int g = 0; g < G; ++g) selection[g] += scored[g];
  }
  // The constant 1 is appended after scaling, as in the paper's M^S.
  const Floats most = larger(logits_towards<F>(selection, features, num_children, logits), all(1.0f));
  const Floats children = lay_end_to_end(logits, num_children, most);
  const Floats landed = uniform * (children + exponential_of_negative(1.0f - most));
  Ints chosen{};
  for (int64_t n = 0; n < num_children; ++n) chosen -= load(logits + n * kLanes) <= landed;
  return chosen;
}

inline void select(const Select& call, int64_t begin, int64_t end) {
  const int64_t num_children = call.num_children, num_parents = call.num_parents, joint = num_children + num_parents;
  const Batch& batch = call.batch;
  Columns<3> features(joint);
  Columns<1> fitness(joint);
  Scratch<float> logits(num_children * kLanes);
  int64_t prepared = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t run = unit / call.units_per_run(), from = unit % call.units_per_run() * kRowBlock;
    if (run != prepared) {
      copy(call.child_fitness.at(batch, run), num_children, fitness[0]);
      copy(call.parent_fitness.at(batch, run), num_parents, fitness[0] + num_children);
      pad(fitness[0], joint);
      fitness_features(fitness[0], joint, *call.best_fitness.at(batch, run), features);
      prepared = run;
    }
    const float* uniform = call.uniform.at(batch, run);
    int32_t* chosen = call.chosen.at(batch, run);
    for (int64_t e = from; e < least(from + kRowBlock, num_parents); e += kLanes) {
      const int64_t count = least(kLanes, num_parents - e);
      const Ints some = choose(features, e, num_children, call.num_heads, call.attend.at(batch, run),
                               call.score.at(batch, run), load_some(uniform + e, count), logits.data());
      std::memcpy(chosen + e, &some, count * sizeof(int32_t));
    }
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
