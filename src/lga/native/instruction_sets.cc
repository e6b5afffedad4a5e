// The choice of the instruction set, when the library is loaded.

#include "instruction_sets.h"

#include <atomic>
#include <cstring>

namespace lga {

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

const Kernels& chosen_kernels() { return *chosen_set.load()->kernels; }

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

}  // namespace lga
