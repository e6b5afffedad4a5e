"""For people with a function: `minimize`, the ask/tell `Optimizer`, and how evaluations are run and survived."""
