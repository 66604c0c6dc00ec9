# Compiler and flags for the kernels on the CPU. build-shim.sh and test.sh source this file.
cxx=${CXX:-g++}
# Without contraction, products and sums in double precision are rounded one by one, as the kernels require.
shim_flags=(-std=c++20 -g1 -Wall -Wextra -Werror -Wno-unknown-pragmas -ffp-contract=off -fno-strict-aliasing)
