// Random shapes and values for the kernels, without XLA, for the sanitizers of the compiler: every array has exactly the
// size that its shape says, so a read or write beyond it is noticed.
//
// usage: fuzz SECONDS SEED

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "kernels.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {
extern const Kernels kKernels;
}
}  // namespace lga

using namespace lga;

std::mt19937_64 generator;

int64_t whole(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(generator); }
bool chance(double probability) { return std::bernoulli_distribution(probability)(generator); }

int64_t size() { return chance(0.1) ? whole(1, 1500) : whole(1, 40); }

float value(double wild) {
  if (!chance(wild)) return std::normal_distribution<float>()(generator);
  const float odd[] = {0.0f,   -0.0f,   kFailed, -kFailed, 1e-42f, std::numeric_limits<float>::infinity(),
                       -1e30f, 1e30f, std::numeric_limits<float>::quiet_NaN()};
  return odd[whole(0, 8)];
}

// An array of one run, or of all runs of a batch.
template <typename T>
struct Array {
  std::vector<T> numbers;
  int64_t stride;

  Array(const Batch& batch, int64_t length, bool is_shared) : numbers(length * (is_shared ? 1 : batch.count)), stride(is_shared ? 0 : length) {
    numbers.shrink_to_fit();
  }
  template <typename Draw>
  Array& fill(Draw draw) {
    for (T& number : numbers) number = draw();
    return *this;
  }
  Operand<const T> in() const {
    Operand<const T> operand;
    operand.data = numbers.data();
    operand.stride[0] = stride;
    return operand;
  }
  Operand<T> out() {
    Operand<T> operand;
    operand.data = numbers.data();
    operand.stride[0] = stride;
    return operand;
  }
};

void fail(const char* what) {
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// Runs all units in random portions.
template <typename Call>
void run(void (*kernel)(const Call&, int64_t, int64_t), const Call& call) {
  const int64_t units = call.batch.count * call.units_per_run();
  for (int64_t begin = 0; begin < units;) {
    const int64_t end = begin + whole(1, units - begin);
    kernel(call, begin, end);
    begin = end;
  }
}

void once(const Kernels& kernels) {
  Batch batch;
  batch.rank = 1;
  batch.count = batch.size[0] = whole(1, 4);
  const int64_t num_children = size(), num_parents = size(), num_heads = whole(1, 4), num_dims = size();
  const double wild = chance(0.5) ? 0.2 : 0.0;
  const auto draw = [&] { return value(wild); };
  const auto draw_uniform = [] { return static_cast<float>(whole(0, (1 << 23) - 1)) / (1 << 23); };
  const auto floats = [&](int64_t length) { return Array<float>(batch, length, chance(0.3)).fill(draw); };
  const auto room = [&](int64_t length) { return Array<float>(batch, length, false); };
  const auto integers = [&](int64_t length) { return Array<int32_t>(batch, length, false); };

  const auto parent_fitness = floats(num_parents), child_fitness = floats(num_children), best = floats(1);
  const auto uniform = Array<float>(batch, num_parents, chance(0.5)).fill(draw_uniform);
  const auto attend = floats(num_heads * 16), score = floats(num_heads * 16);
  auto chosen = integers(num_parents);
  run(kernels.select, Select{batch, num_parents, num_children, num_heads, parent_fitness.in(), child_fitness.in(),
                             best.in(), uniform.in(), attend.in(), score.in(), chosen.out()});
  for (int32_t index : chosen.numbers)
    if (index < 0 || index > num_children) fail("a choice outside of the children");

  const auto sigma = floats(num_children), forms = floats(num_heads * 36), values = floats(num_heads * 6);
  auto multiplier = room(num_children);
  run(kernels.rate, Rate{batch, num_children, num_heads, child_fitness.in(), sigma.in(), best.in(), forms.in(),
                         values.in(), multiplier.out()});
  if (wild == 0.0)
    for (float number : multiplier.numbers)
      if (!(number >= 0.0f)) fail("a negative multiplier");

  const auto key = Array<uint32_t>(batch, 2, chance(0.5)).fill([] { return static_cast<uint32_t>(generator()); });
  const auto solutions = floats(num_parents * num_dims);
  // Indices outside are drawn to the ends.
  const auto index = Array<int32_t>(batch, num_children, chance(0.5)).fill([&] {
    return static_cast<int32_t>(whole(-2 * num_parents, 2 * num_parents));
  });
  auto mutated = room(num_children * num_dims);
  run(kernels.mutate, Mutate{batch, num_parents, num_children, num_dims, key.in(), solutions.in(), index.in(),
                             sigma.in(), mutated.out()});

  const auto ages = Array<int32_t>(batch, num_parents, chance(0.5)).fill([] { return static_cast<int32_t>(whole(-3, 300)); });
  const auto generation = Array<int32_t>(batch, 1, chance(0.5)).fill([] { return static_cast<int32_t>(whole(-1, 99)); });
  const auto child_uniform = Array<float>(batch, num_children, chance(0.5)).fill(draw_uniform);
  const auto wide_forms = floats(num_heads * 25), told = floats(num_heads * 5);
  auto sampled = integers(num_children);
  run(kernels.sample, Sample{batch, num_parents, num_children, num_heads, parent_fitness.in(), ages.in(), best.in(),
                             generation.in(), child_uniform.in(), wide_forms.in(), told.in(), sampled.out()});
  for (int32_t number : sampled.numbers)
    if (number < 0 || number >= num_parents) fail("a draw outside of the parents");

  const auto rates = floats(num_parents), gate_kernel = floats(4 * num_heads), gate_bias = floats(num_heads);
  auto blended = room(num_children * num_dims), away = room(num_children);
  run(kernels.blend, Blend{batch, num_parents, num_children, num_dims, num_heads, parent_fitness.in(), ages.in(), best.in(),
                           generation.in(), solutions.in(), rates.in(), index.in(), wide_forms.in(), gate_kernel.in(),
                           gate_bias.in(), blended.out(), away.out()});

  // A matrix of 1,500 variables would take all the time.
  const int64_t few_dims = num_dims < 60 ? num_dims : 60;
  const auto start = floats(num_children * few_dims), noise = floats(num_children * few_dims);
  const auto path = floats(few_dims), stretch = floats(few_dims * few_dims), strengths = floats(7);
  auto bent = room(num_children * few_dims), new_path = room(few_dims), new_stretch = room(few_dims * few_dims);
  auto factor = room(1);
  run(kernels.bend, Bend{batch, num_children, few_dims, start.in(), sigma.in(), noise.in(), path.in(), stretch.in(),
                         bent.out()});
  run(kernels.adapt, Adapt{batch, num_children, few_dims, child_fitness.in(), noise.in(), path.in(), stretch.in(),
                           strengths.in(), new_path.out(), new_stretch.out(), factor.out()});

  const auto survivors = Array<int32_t>(batch, num_parents, chance(0.5)).fill([&] {
    return static_cast<int32_t>(whole(-num_parents, 2 * (num_parents + num_children)));
  });
  const auto parent_sigma = floats(num_parents), best_solution = floats(num_dims);
  const auto age = integers(num_parents);
  auto next_solutions = room(num_parents * num_dims), next_fitness = room(num_parents), next_sigma = room(num_parents);
  auto next_best_solution = room(num_dims), next_best = room(1);
  auto next_age = integers(num_parents), failures = integers(1);
  run(kernels.survive,
      Survive{batch, num_parents, num_children, num_dims, survivors.in(), mutated.in(), child_fitness.in(), sigma.in(),
              solutions.in(), parent_fitness.in(), parent_sigma.in(), age.in(), best_solution.in(), best.in(),
              next_solutions.out(), next_fitness.out(), next_sigma.out(), next_age.out(), next_best_solution.out(),
              next_best.out(), failures.out()});
  for (int32_t number : failures.numbers)
    if (number < 0 || number > num_children) fail("more failures than children");

  const int64_t num_images = whole(1, 4), height = whole(1, 12), width = whole(1, 30), num_channels = whole(1, 5);
  const int64_t filter_width = 2 * whole(0, 3) + 1, num_filters = whole(1, 40);
  const bool pooled = chance(0.5);
  const int64_t parts = pooled ? 2 : 1;
  const auto images = floats(num_images * height * width * num_channels);
  const auto filters = floats(filter_width * filter_width * num_channels * num_filters), bias = floats(num_filters);
  auto convolved = room(num_images * (height / parts) * (width / parts) * num_filters);
  run(kernels.convolve, Convolve{batch, num_images, height, width, num_channels, filter_width, num_filters, pooled,
                                 images.in(), filters.in(), bias.in(), convolved.out()});

  const int64_t count = size();
  std::vector<uint32_t> keys(2 * count);
  kernels.split(key.numbers.data(), whole(0, 1ll << 33), count, keys.data());
  std::vector<float> numbers(count);
  kernels.uniform(key.numbers.data(), count, numbers.data());
  for (float number : numbers)
    if (!(number >= 0.0f && number < 1.0f)) fail("a uniform number outside of [0, 1)");
}

int main(int, char** arguments) {
  const std::chrono::duration<double> limit(std::atof(arguments[1]));
  generator.seed(std::atoll(arguments[2]));
  const auto start = std::chrono::steady_clock::now();
  int64_t rounds = 0;
  while (std::chrono::steady_clock::now() - start < limit) {
    once(LGA_INSTRUCTION_SET::kKernels);
    ++rounds;
  }
  std::printf("%lld rounds\n", static_cast<long long>(rounds));
}
