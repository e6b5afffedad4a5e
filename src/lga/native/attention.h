// Attention with folded numbers, as in operators/rows.py.
//
// Vector lanes hold the individuals that ask (parents in selection, children in the mutation rate) and loops run over the
// individuals that answer. So softmax, its sums and the draw go straight down the lanes, no lane waits for another one, and
// the arithmetic of a run does not depend on the batch that it is in.

#pragma once

#include "operator_features.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// One head: what a vector of asking individuals multiplies each answering one's features with, the constant last.
template <int F>
inline void asking_forms(const Floats (&asking)[F], const float* form, Floats (&query)[F + 1]) {
  for (int g = 0; g <= F; ++g) {
    query[g] = all(form[F * (F + 1) + g]);
    for (int f = 0; f < F; ++f) query[g] += asking[f] * form[f * (F + 1) + g];
  }
}

// Logits towards all answering individuals, and the largest of them.
template <int F>
inline Floats logits_towards(const Floats (&query)[F + 1], const Columns<F>& answering, int64_t count, float* logits) {
  Floats most = all(-kFailed);
  for (int64_t n = 0; n < count; ++n) {
    Floats logit = query[F];
    for (int f = 0; f < F; ++f) logit += query[f] * answering[f][n];
    store(logits + n * kLanes, logit);
    most = larger(most, logit);
  }
  return most;
}

// The sum of weights [N] that are laid end to end, each end written over its weight's logit; `most` is the largest logit.
inline Floats lay_end_to_end(float* logits, int64_t count, Floats most) {
  Floats settled{}, recent{};
  for (int64_t n = 0; n < count; ++n) {
    recent += exponential_of_negative(load(logits + n * kLanes) - most);
    store(logits + n * kLanes, settled + recent);
    if ((n + 1) % kSumBlock == 0) {
      settled += recent;
      recent = Floats{};
    }
  }
  return settled + recent;
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
