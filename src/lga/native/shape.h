// The shape of mutation, as in operators/shape.py.

#pragma once

#include "operator_features.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// `columns[j]` is the j-th column of the matrix: a product with a vector then goes down the lanes.
inline void transpose(const float* matrix, int64_t num_dims, Rows& columns) {
  for (int64_t i = 0; i < num_dims; ++i)
    for (int64_t j = 0; j < num_dims; ++j) columns[j][i] = matrix[i * num_dims + j];
}

inline void times_matrix(const Rows& columns, const float* vector, int64_t num_dims, float* product) {
  for (int64_t i = 0; i < num_dims; i += kLanes) {
    Floats sum{};
    for (int64_t j = 0; j < num_dims; ++j) sum += vector[j] * load(columns[j] + i);
    store(product + i, sum);
  }
}

inline void bend(const Bend& call, int64_t begin, int64_t end) {
  const int64_t num_dims = call.num_dims, width = padded(num_dims);
  Rows columns(num_dims, num_dims);
  Scratch<float> scratch(2 * width);
  float *direction = scratch.data(), *moved = direction + width;
  for (int64_t run = begin; run < end; ++run) {
    transpose(call.stretch.at(call.batch, run), num_dims, columns);
    const float *start = call.start.at(call.batch, run), *noise = call.noise.at(call.batch, run);
    const float *sigma = call.sigma.at(call.batch, run), *drift = call.drift.at(call.batch, run);
    float* bent = call.bent.at(call.batch, run);
    for (int64_t n = 0; n < call.num_children; ++n, start += num_dims, noise += num_dims, bent += num_dims) {
      for (int64_t j = 0; j < num_dims; ++j) direction[j] = noise[j] + drift[j];
      times_matrix(columns, direction, num_dims, moved);
      for (int64_t j = 0; j < num_dims; ++j) bent[j] = start[j] + sigma[n] * moved[j];
    }
  }
}

inline float clipped(float value, float low, float high) { return value < low ? low : (value > high ? high : value); }

// Softmax of ranks times `slope`, padded with zeros.
inline void rank_weights(const float* ranks, float slope, int64_t count, float* weights) {
  // Ranks lie within [-0.5, 0.5], so no logit exceeds half of the slope.
  const float most = 0.5f * (slope < 0.0f ? -slope : slope);
  for (int64_t i = 0; i < count; i += kLanes) store(weights + i, exponential_of_negative(slope * load(ranks + i) - most));
  for (int64_t i = count; i < padded(count); ++i) weights[i] = 0.0f;
  const float scale = 1.0f / total(weights, count, [](Floats some) { return some; });
  for (int64_t i = 0; i < count; i += kLanes) store(weights + i, scale * load(weights + i));
}

inline void adapt(const Adapt& call, int64_t begin, int64_t end) {
  constexpr float kLargestChange = 1.0f;
  const int64_t num_children = call.num_children, num_dims = call.num_dims, width = padded(num_dims);
  const float d = static_cast<float>(num_dims), length = __builtin_sqrtf(d) * (1.0f - 0.25f / d + 1.0f / (21.0f * d * d));
  Columns<4> weights(num_children);
  Rows columns(num_dims, num_dims), rows(num_children + 1, num_dims), learned(num_dims, num_dims);
  Scratch<float> scratch(width + num_children + 1);
  float *bent = scratch.data(), *pull = bent + width;
  for (int64_t run = begin; run < end; ++run) {
    const float *strengths = call.strengths.at(call.batch, run), *noise = call.noise.at(call.batch, run);
    float *fitness = weights[0], *ranks = weights[1], *good = weights[2], *bad = weights[3];
    copy(call.fitness.at(call.batch, run), num_children, fitness);
    pad(fitness, num_children);
    centred_ranks(fitness, num_children, ranks);
    rank_weights(ranks, -strengths[0], num_children, good);
    rank_weights(ranks, strengths[0], num_children, bad);
    const float mass = 1.0f / total(good, num_children, [](Floats some) { return some * some; });
    const float rate = clipped(strengths[1] * (mass + 2.0f) / (d + mass + 5.0f), 1e-4f, 1.0f);
    const float one = clipped(strengths[2] * 2.0f / ((d + 1.3f) * (d + 1.3f) + mass), 0.0f, 0.5f);
    const float many = clipped(
        strengths[3] * 2.0f * (mass - 2.0f + 1.0f / mass) / ((d + 2.0f) * (d + 2.0f) + mass), 0.0f, 0.9f);
    const float against = strengths[4];
    // The noise, and the path as one more row.
    float* path = rows[num_children];
    for (int64_t j = 0; j < width; ++j) path[j] = 0.0f;
    for (int64_t n = 0; n < num_children; ++n) {
      copy(noise + n * num_dims, num_dims, rows[n]);
      const float squares = total(rows[n], num_dims, [](Floats some) { return some * some; });
      pull[n] = 0.5f * many * (good[n] - against * bad[n] * d / (squares > 1e-20f ? squares : 1e-20f));
      for (int64_t j = 0; j < num_dims; j += kLanes) store(path + j, load(path + j) + good[n] * load(rows[n] + j));
    }
    pull[num_children] = 0.5f * one;
    const float *old_path = call.path.at(call.batch, run), gain = __builtin_sqrtf(mass * rate * (2.0f - rate));
    for (int64_t j = 0; j < num_dims; ++j) path[j] = (1.0f - rate) * old_path[j] + gain * path[j];
    copy(path, num_dims, call.new_path.at(call.batch, run));
    // M [kept I + sum of outer products]: the rows bent by M, each with its own row.
    const float* stretch = call.stretch.at(call.batch, run);
    transpose(stretch, num_dims, columns);
    const float kept = 1.0f - 0.5f * one - 0.5f * many * (1.0f - against);
    for (int64_t i = 0; i < num_dims; ++i)
      for (int64_t j = 0; j < num_dims; ++j) learned[i][j] = kept * stretch[i * num_dims + j];
    for (int64_t k = 0; k <= num_children; ++k) {
      times_matrix(columns, rows[k], num_dims, bent);
      for (int64_t i = 0; i < num_dims; ++i) {
        const float weight = pull[k] * bent[i];
        for (int64_t j = 0; j < num_dims; j += kLanes)
          store(learned[i] + j, load(learned[i] + j) + weight * load(rows[k] + j));
      }
    }
    float squares = 0.0f;
    for (int64_t i = 0; i < num_dims; ++i)
      squares += total(learned[i], num_dims, [](Floats some) { return some * some; });
    const float size = __builtin_sqrtf(squares / d), scale = 1.0f / size;
    float* new_stretch = call.new_stretch.at(call.batch, run);
    for (int64_t i = 0; i < num_dims; ++i)
      for (int64_t j = 0; j < num_dims; ++j) new_stretch[i * num_dims + j] = scale * learned[i][j];
    const float path_squares = total(path, num_dims, [](Floats some) { return some * some; });
    const float spread = __builtin_sqrtf((mass - 1.0f) / (d + 1.0f)) - 1.0f;
    const float damping = 1.0f + rate + 2.0f * (spread > 0.0f ? spread : 0.0f);
    const float longer = __builtin_sqrtf(path_squares) / length - 1.0f;
    const float change = clipped(strengths[5] * rate / damping * longer, -kLargestChange, kLargestChange);
    *call.factor.at(call.batch, run) = size * exponential(all(change))[0];
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
