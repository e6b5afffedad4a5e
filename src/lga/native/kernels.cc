// The arithmetic of the operators, written for one run.
//
// This file is compiled once for each instruction set, with LGA_INSTRUCTION_SET as the name of its namespace; so is all that
// it includes.

#include "kernels.h"

#include "blend.h"
#include "convolution.h"
#include "mutation.h"
#include "readout.h"
#include "selection.h"
#include "shape.h"
#include "survival.h"

namespace lga {
namespace LGA_INSTRUCTION_SET {

extern const Kernels kKernels{split, uniform, select, sample, blend, rate, mutate, bend, adapt, survive, convolve};

}  // namespace LGA_INSTRUCTION_SET
}  // namespace lga
