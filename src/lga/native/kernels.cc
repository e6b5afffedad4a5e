// The arithmetic of the learned operators, written for one run.
//
// Vector lanes hold the individuals that ask (parents in selection, children in the mutation rate) and loops run over the
// individuals that answer. So softmax, its sums and the draw go straight down the lanes, no lane waits for another one, and
// the arithmetic of a run does not depend on the batch that it is in.
//
// This file is compiled once for each instruction set, with LGA_INSTRUCTION_SET as the name of its namespace.

#include "kernels.h"

#include <algorithm>

#include "threefry.h"
#include "vector.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

// Below this size all pairs are compared, which fills the lanes; above it sorting is cheaper.
constexpr int64_t kLargestPairwiseSize = 1024;
// Individuals whose terms are added up before they join a sum over all: rounding errors grow with the longest chain.
constexpr int64_t kSumBlock = 32;

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// An index as JAX's gather takes it: counted from the end if negative, and never outside.
inline int64_t within(int64_t index, int64_t size) {
  if (index < 0) index += size;
  return index < 0 ? 0 : least(index, size - 1);
}

inline void copy(const float* from, int64_t count, float* to) { std::memcpy(to, from, count * sizeof(float)); }

// Scratch memory that starts as zeros. No std::vector: its functions would be merged over the instruction sets by the
// linker, and an old processor would get those of a new one.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : data_(new T[count]()) {}
  ~Scratch() { delete[] data_; }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_;
};

// Columns of numbers, one for each feature, with room for a whole vector behind the last one.
template <int F>
class Columns {
 public:
  explicit Columns(int64_t count) : length_(padded(count) + kLanes), numbers_(F * length_) {}
  float* operator[](int feature) { return numbers_.data() + feature * length_; }
  const float* operator[](int feature) const { return numbers_.data() + feature * length_; }

 private:
  int64_t length_;
  Scratch<float> numbers_;
};

// ---- features, as in operators/features.py ----

// The padding is a copy of a value, so that it changes neither the least nor the most.
void pad(float* values, int64_t count) {
  for (int64_t i = count; i < padded(count); ++i) values[i] = values[0];
}

// The rank of what comes at the given place, counted from 0, among `count` values.
template <typename Place>
inline Place centred(Place place, int64_t count) {
  return (place - 0.5f * static_cast<float>(count - 1)) / (count > 1 ? static_cast<float>(count - 1) : 1.0f);
}

// Equal values come in the order of their positions.
void centred_ranks(const float* values, int64_t count, float* ranks) {
  if (count <= kLargestPairwiseSize) {
    const Ints lane = reinterpret_cast<Ints>(lane_index());
    for (int64_t i = 0; i < count; i += kLanes) {
      const Floats own = load(values + i);
      const int64_t end = least(i + kLanes, count);
      Ints place{};
      // A comparison is -1 where it holds. Equals that lie before come before, those that lie behind do not.
      for (int64_t j = 0; j < i; ++j) place -= own >= values[j];
      for (int64_t j = i; j < end; ++j)
        place -= (own > values[j]) | ((own == values[j]) & (lane > static_cast<int32_t>(j - i)));
      for (int64_t j = end; j < count; ++j) place -= own > values[j];
      store(ranks + i, centred(__builtin_convertvector(place, Floats), count));
    }
    return;
  }
  Scratch<int64_t> scratch(count);
  int64_t* order = scratch.data();
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  // By integers of the same order: not-a-numbers, which have no order, would lead the sort out of bounds.
  const auto key = [values](int64_t i) {
    int32_t word;
    std::memcpy(&word, values + i, sizeof word);
    return word < 0 ? -static_cast<int64_t>(word & 0x7fffffff) : static_cast<int64_t>(word);
  };
  std::sort(order, order + count,
            [key](int64_t a, int64_t b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (int64_t place = 0; place < count; ++place) ranks[order[place]] = centred(static_cast<float>(place), count);
}

inline float positive_or_one(float scale) { return scale > 0.0f ? scale : 1.0f; }

// The sum of a term of each number; the term of zero must be zero.
template <typename Term>
inline float total(const float* numbers, int64_t count, Term term) {
  Floats settled{};
  for (int64_t block = 0; block < count; block += kSumBlock) {
    const int64_t end = least(block + kSumBlock, count);
    Floats recent{};
    int64_t i = block;
    for (; i + kLanes <= end; i += kLanes) recent += term(load(numbers + i));
    if (i < end) recent += term(load_some(numbers + i, end - i));
    settled += recent;
  }
  return sum(settled);
}

struct Range {
  float low, high;
};

// What exceeds the range is drawn to its end. A small part of each value: the range of the largest floats would overflow,
// and its reciprocal would vanish.
void between_zero_and_one(const float* values, int64_t count, Range range, float* unit) {
  const float low = 0.0625f * range.low, extent = positive_or_one(0.0625f * range.high - low);
  for (int64_t i = 0; i < count; i += kLanes)
    store(unit + i, (0.0625f * smaller(load(values + i), all(range.high)) - low) / extent);
}

// `unit` holds values between zero and one, and is overwritten.
void z_score(float* unit, int64_t count) {
  const float size = static_cast<float>(count);
  const float mean = total(unit, count, [](Floats some) { return some; }) / size;
  for (int64_t i = 0; i < count; i += kLanes) store(unit + i, load(unit + i) - mean);
  const float squares = total(unit, count, [](Floats centred) { return centred * centred; });
  const float scale = 1.0f / positive_or_one(__builtin_sqrtf(squares / size));
  for (int64_t i = 0; i < count; i += kLanes) store(unit + i, scale * load(unit + i));
}

// Better-than-best flag, centred rank and z-score into the first three columns. `values` must be padded.
template <int F>
void fitness_features(const float* values, int64_t count, float best, Columns<F>& features) {
  Floats low = all(values[0]), high = all(-kFailed);
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats fitness = load(values + i);
    store(features[0] + i, fitness < best ? all(1.0f) : Floats{});
    low = smaller(low, fitness);
    high = larger(high, fitness >= kFailed ? all(-kFailed) : fitness);
  }
  centred_ranks(values, count, features[1]);
  // Failed evaluations take the worst value that succeeded, lest one failure flatten all other z-scores.
  const float worst_success = largest(high), best_success = smallest(low);
  const Range range{worst_success < best_success ? worst_success : best_success, worst_success};
  between_zero_and_one(values, count, range, features[2]);
  z_score(features[2], count);
}

// z-score and [-1, 1] normalisation of the mutation rates, into the two columns behind. `sigma` must be padded.
void sigma_features(const float* sigma, int64_t count, Columns<5>& features) {
  Floats low = all(sigma[0]), high = low;
  for (int64_t i = 0; i < count; i += kLanes) {
    low = smaller(low, load(sigma + i));
    high = larger(high, load(sigma + i));
  }
  between_zero_and_one(sigma, count, {smallest(low), largest(high)}, features[3]);
  for (int64_t i = 0; i < count; i += kLanes) store(features[4] + i, 2.0f * load(features[3] + i) - 1.0f);
  z_score(features[3], count);
}

// ---- attention ----

// One head: what a vector of asking individuals multiplies each answering one's features with, the constant last.
template <int F>
void asking_forms(const Floats (&asking)[F], const float* form, Floats (&query)[F + 1]) {
  for (int g = 0; g <= F; ++g) {
    query[g] = all(form[F * (F + 1) + g]);
    for (int f = 0; f < F; ++f) query[g] += asking[f] * form[f * (F + 1) + g];
  }
}

// Logits towards all answering individuals, and the largest of them.
template <int F>
Floats logits_towards(const Floats (&query)[F + 1], const Columns<F>& answering, int64_t count, float* logits) {
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
Floats lay_end_to_end(float* logits, int64_t count, Floats most) {
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

// ---- selection ----

// A vector of parents, each with its uniform number, chooses among the children. Children come first in the features.
Ints choose(const Columns<3>& features, int64_t first_parent, int64_t num_children, int64_t num_heads,
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

void select(const Select& call, int64_t begin, int64_t end) {
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

// ---- mutation rate ----

// A vector of children reads out what the others tell, head by head: `told` holds padded(N) numbers per head.
Floats read_out(const Columns<5>& features, int64_t first_child, int64_t num_children, int64_t num_heads,
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

void rate(const Rate& call, int64_t begin, int64_t end) {
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

// ---- random numbers ----

void split(const uint32_t* key, int64_t from, int64_t count, uint32_t* keys) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Pair words = threefry(key, from + i);
    for (int64_t lane = 0; lane < least(kLanes, count - i); ++lane) {
      keys[2 * (i + lane)] = words.first[lane];
      keys[2 * (i + lane) + 1] = words.second[lane];
    }
  }
}

void uniform(const uint32_t* key, int64_t count, float* numbers) {
  for (int64_t i = 0; i < count; i += kLanes) store_some(numbers + i, uniform(key, i), least(kLanes, count - i));
}

// ---- mutation ----

// A row of a genome, at most a block of it: parent + sigma * noise.
inline void add_noise(const float* parent, float sigma, const float* noise, int64_t count, float* mutated) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(mutated + i, load(parent + i) + sigma * load(noise + i));
  if (i < count)
    store_some(mutated + i, load_some(parent + i, count - i) + sigma * load(noise + i), count - i);
}

void mutate(const Mutate& call, int64_t begin, int64_t end) {
  const int64_t num_dims = call.num_dims, size = call.num_children * num_dims;
  float noise[kGenomeBlock + kLanes];
  // Positions run slower than runs: where the runs share a key, each block of noise is drawn once.
  const uint32_t* drawn_key = nullptr;
  int64_t drawn_block = -1;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t block = unit / call.batch.count, run = unit % call.batch.count;
    const int64_t from = block * kGenomeBlock, to = least(from + kGenomeBlock, size);
    const uint32_t* key = call.key.at(call.batch, run);
    if (key != drawn_key || block != drawn_block) {
      for (int64_t i = from; i < to; i += kLanes) store(noise + (i - from), standard_normal(key, i));
      drawn_key = key, drawn_block = block;
    }
    const float* solutions = call.solutions.at(call.batch, run);
    const int32_t* parent_index = call.parent_index.at(call.batch, run);
    const float* sigma = call.sigma.at(call.batch, run);
    float* mutated = call.mutated.at(call.batch, run);
    for (int64_t here = from, child = from / num_dims; here < to; ++child) {
      const int64_t next = least((child + 1) * num_dims, to), column = here - child * num_dims;
      const int64_t parent = within(parent_index[child], call.num_parents);
      add_noise(solutions + parent * num_dims + column, sigma[child], noise + (here - from), next - here,
                mutated + here);
      here = next;
    }
  }
}

// ---- shape of mutation, as in operators/shape.py ----

// Rows of a matrix, padded with zeros to whole vectors.
class Rows {
 public:
  Rows(int64_t num_rows, int64_t num_columns) : width_(padded(num_columns)), numbers_(num_rows * width_) {}
  float* operator[](int64_t row) { return numbers_.data() + row * width_; }
  const float* operator[](int64_t row) const { return numbers_.data() + row * width_; }

 private:
  int64_t width_;
  Scratch<float> numbers_;
};

// `columns[j]` is the j-th column of the matrix: a product with a vector then goes down the lanes.
void transpose(const float* matrix, int64_t num_dims, Rows& columns) {
  for (int64_t i = 0; i < num_dims; ++i)
    for (int64_t j = 0; j < num_dims; ++j) columns[j][i] = matrix[i * num_dims + j];
}

void times_matrix(const Rows& columns, const float* vector, int64_t num_dims, float* product) {
  for (int64_t i = 0; i < num_dims; i += kLanes) {
    Floats sum{};
    for (int64_t j = 0; j < num_dims; ++j) sum += vector[j] * load(columns[j] + i);
    store(product + i, sum);
  }
}

void bend(const Bend& call, int64_t begin, int64_t end) {
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
void rank_weights(const float* ranks, float slope, int64_t count, float* weights) {
  // Ranks lie within [-0.5, 0.5], so no logit exceeds half of the slope.
  const float most = 0.5f * (slope < 0.0f ? -slope : slope);
  for (int64_t i = 0; i < count; i += kLanes) store(weights + i, exponential_of_negative(slope * load(ranks + i) - most));
  for (int64_t i = count; i < padded(count); ++i) weights[i] = 0.0f;
  const float scale = 1.0f / total(weights, count, [](Floats some) { return some; });
  for (int64_t i = 0; i < count; i += kLanes) store(weights + i, scale * load(weights + i));
}

void adapt(const Adapt& call, int64_t begin, int64_t end) {
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

// ---- survival ----

inline void copy_row(const float* from, int64_t count, float* to) {
  if (count > kLanes)
    copy(from, count, to);
  else
    store_some(to, load_some(from, count), count);
}

void survive(const Survive& call, int64_t begin, int64_t end) {
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

extern const Kernels kKernels{split, uniform, select, rate, mutate, bend, adapt, survive};

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
