# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
# One place for how every target is compiled. Baseline ISA only: Highway dispatches at run time.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

include(TestBigEndian)
test_big_endian(mercer_big_endian)
if(mercer_big_endian)
  message(FATAL_ERROR "mercer: big-endian machines are not supported (file formats and streams are little-endian)")
endif()

set(MERCER_SANITIZE "" CACHE STRING "Sanitizers for every target, such as address,undefined or thread")
option(MERCER_FUZZ "Build tests/fuzz with libFuzzer, by clang: coverage is recorded everywhere, sanitizers watch" OFF)
if(MERCER_FUZZ)
  set(MERCER_SANITIZE address,undefined)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(MERCER_SANITIZE)
  add_compile_options(-fsanitize=${MERCER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MERCER_SANITIZE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # gcc 12 warns about std::function once it is instrumented
endif()

function(mercer_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF C_STANDARD 99 C_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  # -ffp-contract=off: gcc fuses a*b+c by default where the ISA allows it, which would make a seed mean
  # another map on another machine. Vector code asks for fused operations by name.
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra)
  # gcc collects garbage whenever its heap has doubled since 128 MB; a unit ends below 1 GB, and compiles 7 % faster without.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:--param=ggc-min-heapsize=2000000>)
  endif()
endfunction()

# Several files of a room at a time take a third of the processor time. Each file still compiles alone: the presets clang and
# no-fftw build them so. gcc takes an included file's anonymous namespace for a header's.
option(MERCER_UNITY "Compile several files of the library at a time" ON)
function(mercer_unity target)
  if(MERCER_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# What most files include anyway takes half their compile time. Each file still includes what it needs: the presets clang and
# no-fftw build without this. gcc refuses one made with other definitions, which costs all of the gain; -O may differ, so that
# targets of equal definitions share one: target_precompile_headers(... REUSE_FROM).
# mercer_precompile(target headers...): those of the list below and more.
function(mercer_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <atomic> <cmath> <cstdint> <functional> <limits> <memory> <mutex>
    <span> <string> <string_view> <utility> <variant> <vector> ${ARGN})
endfunction()
