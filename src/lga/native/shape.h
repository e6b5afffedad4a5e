// The shape of mutation, as in operators/shape.py.

#pragma once

#include "operator_features.h"
#include "products.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// `columns[j]` is the j-th column of the matrix: a product with a vector then goes down the lanes.
inline void transpose(const float* matrix, int64_t num_dims, Rows& columns) {
  for (int64_t i = 0; i < num_dims; ++i)
    for (int64_t j = 0; j < num_dims; ++j) columns[j][i] = matrix[i * num_dims + j];
}

// The matrix times each of the rows, which have room for whole multiples of kSideBySide of them; so has `products`.
inline void times_matrix(const Rows& columns, const Rows& rows, int64_t num_rows, int64_t num_dims, Rows& products) {
  for (int64_t from = 0; from < num_dims; from += kLanes)
    for (int64_t first = 0; first < num_rows; first += kSideBySide) {
      Floats sums[kSideBySide];
      sums_of_rows(num_dims, {rows[first], padded(num_dims), 1}, [&](int64_t j) { return columns[j] + from; }, sums);
      for (int64_t i = 0; i < kSideBySide; ++i) store(products[first + i] + from, sums[i]);
    }
}

// The rows of an array [rows, D], padded. Where runs share the array, it is the same at the next run, and stays as it is.
class CopiedRows {
 public:
  CopiedRows(int64_t room, int64_t num_dims) : rows(padded(room), num_dims), num_dims_(num_dims) {}

  // Whether they were copied.
  bool take(const float* array, int64_t num_rows) {
    if (array == array_) return false;
    for (int64_t n = 0; n < num_rows; ++n) copy(array + n * num_dims_, num_dims_, rows[n]);
    array_ = array;
    return true;
  }

  Rows rows;

 private:
  int64_t num_dims_;
  const float* array_ = nullptr;
};

inline void bend(const Bend& call, int64_t begin, int64_t end) {
  const int64_t num_children = call.num_children, num_dims = call.num_dims;
  CopiedRows noise(num_children, num_dims);
  Rows columns(num_dims, num_dims), drift(1, num_dims);
  Rows directions(padded(num_children), num_dims), moved(padded(num_children), num_dims);
  for (int64_t run = begin; run < end; ++run) {
    transpose(call.stretch.at(call.batch, run), num_dims, columns);
    noise.take(call.noise.at(call.batch, run), num_children);
    copy(call.drift.at(call.batch, run), num_dims, drift[0]);
    for (int64_t n = 0; n < num_children; ++n)
      for (int64_t j = 0; j < num_dims; j += kLanes)
        store(directions[n] + j, load(noise.rows[n] + j) + load(drift[0] + j));
    times_matrix(columns, directions, num_children, num_dims, moved);
    const float *start = call.start.at(call.batch, run), *sigma = call.sigma.at(call.batch, run);
    float* bent = call.bent.at(call.batch, run);
    for (int64_t n = 0; n < num_children; ++n, start += num_dims, bent += num_dims)
      add_scaled(start, sigma[n], moved[n], num_dims, bent);
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

// As in operators/shape.py.
inline float balanced_mass(float mass, int64_t num_children) {
  const float n = static_cast<float>(num_children), pairs = static_cast<float>(num_children / 2);
  const float product = (1.0f - 1.0f / mass) / (num_children > 1 ? n * (n - 1.0f) : 1.0f);
  const float squares = 1.0f / mass - 2.0f * pairs * product;
  return 1.0f / (squares > 1e-6f ? squares : 1e-6f);
}

inline void adapt(const Adapt& call, int64_t begin, int64_t end) {
  constexpr float kLargestChange = 1.0f;
  const auto squared = [](Floats some) { return some * some; };
  const int64_t num_children = call.num_children, num_dims = call.num_dims, width = padded(num_dims);
  const float d = static_cast<float>(num_dims), length = __builtin_sqrtf(d) * (1.0f - 0.25f / d + 1.0f / (21.0f * d * d));
  Columns<6> weights(num_children + 1);
  float *fitness = weights[0], *ranks = weights[1], *good = weights[2], *bad = weights[3], *pull = weights[4];
  float* shortening = weights[5];
  // The noise, and the path as one more row.
  CopiedRows noise(num_children + 1, num_dims);
  Rows columns(num_dims, num_dims), bent(padded(num_children + 1), num_dims), learned(width, num_dims);
  Rows& rows = noise.rows;
  float* path = rows[num_children];
  for (int64_t run = begin; run < end; ++run) {
    const float* strengths = call.strengths.at(call.batch, run);
    if (noise.take(call.noise.at(call.batch, run), num_children))
      for (int64_t n = 0; n < num_children; ++n) {
        const float squares = total(rows[n], num_dims, squared);
        shortening[n] = d / (squares > 1e-20f ? squares : 1e-20f);
      }
    copy(call.fitness.at(call.batch, run), num_children, fitness);
    pad(fitness, num_children);
    centred_ranks(fitness, num_children, ranks);
    rank_weights(ranks, -strengths[0], num_children, good);
    rank_weights(ranks, strengths[0], num_children, bad);
    const float mass = 1.0f / total(good, num_children, squared);
    const float rate = clipped(strengths[1] * (mass + 2.0f) / (d + mass + 5.0f), 1e-4f, 1.0f);
    const float one = clipped(strengths[2] * 2.0f / ((d + 1.3f) * (d + 1.3f) + mass), 0.0f, 0.5f);
    const float many = clipped(
        strengths[3] * 2.0f * (mass - 2.0f + 1.0f / mass) / ((d + 2.0f) * (d + 2.0f) + mass), 0.0f, 0.9f);
    const float against = strengths[4];
    for (int64_t n = 0; n < num_children; n += kLanes)
      store(pull + n, 0.5f * many * (load(good + n) - against * load(bad + n) * load(shortening + n)));
    pull[num_children] = 0.5f * one;
    const float gain = __builtin_sqrtf(balanced_mass(mass, num_children) * rate * (2.0f - rate));
    copy(call.path.at(call.batch, run), num_dims, path);
    for (int64_t from = 0; from < num_dims; from += kLanes) {
      Floats step[1];
      sums_of_rows(num_children, {good, 0, 1}, [&](int64_t n) { return rows[n] + from; }, step);
      store(path + from, (1.0f - rate) * load(path + from) + gain * step[0]);
    }
    copy(path, num_dims, call.new_path.at(call.batch, run));
    // M [kept I + sum of outer products]: the rows bent by M, each with its own row.
    const float* stretch = call.stretch.at(call.batch, run);
    transpose(stretch, num_dims, columns);
    times_matrix(columns, rows, num_children + 1, num_dims, bent);
    for (int64_t k = 0; k <= num_children; ++k)
      for (int64_t i = 0; i < num_dims; i += kLanes) store(bent[k] + i, pull[k] * load(bent[k] + i));
    const float kept = 1.0f - 0.5f * one - 0.5f * many * (1.0f - against);
    Floats squares{};
    for (int64_t i = 0; i < num_dims; ++i) copy(stretch + i * num_dims, num_dims, learned[i]);
    for (int64_t from = 0; from < num_dims; from += kLanes)
      for (int64_t first = 0; first < num_dims; first += kSideBySide) {
        Floats sums[kSideBySide];
        sums_of_rows(num_children + 1, {bent[0] + first, 1, width}, [&](int64_t k) { return rows[k] + from; }, sums);
        for (int64_t i = first; i < least(first + kSideBySide, num_dims); ++i) {
          const Floats row = kept * load(learned[i] + from) + sums[i - first];
          store(learned[i] + from, row);
          squares += row * row;
        }
      }
    const float size = __builtin_sqrtf(sum(squares) / d), scale = 1.0f / size;
    float* new_stretch = call.new_stretch.at(call.batch, run);
    for (int64_t i = 0; i < num_dims; ++i)
      for (int64_t j = 0; j < num_dims; ++j) new_stretch[i * num_dims + j] = scale * learned[i][j];
    const float spread = __builtin_sqrtf((mass - 1.0f) / (d + 1.0f)) - 1.0f;
    const float damping = 1.0f + rate + 2.0f * (spread > 0.0f ? spread : 0.0f);
    const float longer = __builtin_sqrtf(total(path, num_dims, squared)) / length - strengths[6];
    const float change = clipped(strengths[5] * rate / damping * longer, -kLargestChange, kLargestChange);
    *call.factor.at(call.batch, run) = size * exponential(all(change))[0];
  }
}

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
