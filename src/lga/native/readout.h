// One number from self-attention for each individual: the mutation rate, as in operators/mutation_rate.py.

#pragma once

#include "attention.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// A vector of children reads out what the others tell, head by head: `told` holds padded(N) numbers per head.
inline Floats read_out(const Columns<5>& features, int64_t first_child, int64_t num_children, int64_t num_heads,
                       const float* attend, const float* told, float* logits) {
  constexpr int F = 5, G = F + 1;
  Floats asking[F], query[G], readout{};
  for (int f = 0; f < F; ++f) asking[f] = load(features[f] + first_child);
  for (int64_t head = 0; head < num_heads; ++head, attend += G * G, told += padded(num_children)) {
    asking_forms<F>(asking, attend, query);
    const Floats most = logits_towards<F>(query, features, num_children, logits);
    Floats gathered{}, total{};
    for (int64_t block = 0; block < num_children; block += kSumBlock) {
      Floats sum{}, weights{};
      for (int64_t n = block; n < least(block + kSumBlock, num_children); ++n) {
        const Floats weight = exponential_of_negative(load(logits + n * kLanes) - most);
        sum += weight * told[n];
        weights += weight;
      }
      gathered += sum;
      total += weights;
    }
    readout += gathered / total;
  }
  return readout;
}

inline void rate(const Rate& call, int64_t begin, int64_t end) {
  constexpr int F = 5, G = F + 1;
  const int64_t num_children = call.num_children;
  const Batch& batch = call.batch;
  Columns<F> features(num_children);
  Columns<1> copied(num_children);
  Scratch<float> logits(num_children * kLanes), told(call.num_heads * padded(num_children));
  int64_t prepared = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t run = unit / call.units_per_run(), from = unit % call.units_per_run() * kRowBlock;
    if (run != prepared) {
      copy(call.fitness.at(batch, run), num_children, copied[0]);
      pad(copied[0], num_children);
      fitness_features(copied[0], num_children, *call.best_fitness.at(batch, run), features);
      copy(call.sigma.at(batch, run), num_children, copied[0]);
      pad(copied[0], num_children);
      sigma_features(copied[0], num_children, features);
      const float* value = call.value.at(batch, run);
      float* row = told.data();
      for (int64_t head = 0; head < call.num_heads; ++head, value += G, row += padded(num_children))
        for (int64_t n = 0; n < num_children; n += kLanes) {
          Floats own = all(value[F]);
          for (int f = 0; f < F; ++f) own += value[f] * load(features[f] + n);
          store(row + n, own);
        }
      prepared = run;
    }
    float* multiplier = call.multiplier.at(batch, run);
    for (int64_t n = from; n < least(from + kRowBlock, num_children); n += kLanes) {
      const Floats readout =
          read_out(features, n, num_children, call.num_heads, call.attend.at(batch, run), told.data(), logits.data());
      store_some(multiplier + n, exponential(0.5f * readout), least(kLanes, num_children - n));
    }
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
