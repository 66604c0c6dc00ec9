# Compiler and flags for the kernels on the CPU; sourced by build-shim.sh and test.sh.
cxx=${CXX:-g++}
# No contraction: products and sums in double precision are rounded one by one, as the kernels ask for.
shim_flags=(-std=c++20 -g1 -Wall -Wextra -Werror -Wno-unknown-pragmas -ffp-contract=off -fno-strict-aliasing)
