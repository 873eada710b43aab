# Flags of every target of the project.

option(WHORL_WARNINGS_AS_ERRORS
       "Warnings fail the build. On in the project's presets, off for people who embed it." OFF)
set(WHORL_SANITIZE "" CACHE STRING
    "Sanitizers to build with, as a list: address;undefined or thread")

# A trace must be the same bytes from every compiler; a fused multiply-add rounds once where the
# other compiler rounds twice.
add_compile_options(-ffp-contract=off)

# The project's own CHECKs stay on in every build, so NDEBUG costs no safety here: it only silences
# the assertions of the libraries.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")

add_compile_options(
  -Wall -Wextra -Wpedantic
  -Wshadow -Wconversion -Wold-style-cast -Wcast-qual -Wformat=2
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi
  # The two compilers disagree on whether -Wconversion includes this; it fires on each index.
  # Comparisons of different signs are still errors, through -Wsign-compare.
  -Wno-sign-conversion
  # A designated initialiser names what differs from the default; the rest is never left unset.
  -Wno-missing-field-initializers)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(
    -Wduplicated-cond -Wlogical-op
    # g++ 12 warns falsely inside std::string (bug 105329) and inside std::variant and std::optional
    # (bug 80635) at -O2. Clang and the sanitizers watch the same code.
    -Wno-restrict -Wno-maybe-uninitialized)
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ takes every source but the one it was given for a header, in which a type with external
  # linkage must not have a field of an unnamed namespace.
  add_compile_options(-Wno-subobject-linkage)
endif()

if(WHORL_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()

if(WHORL_SANITIZE)
  # -O1 and line tables: fast enough for all tests, and a report still names the line.
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -gline-tables-only -D_GLIBCXX_ASSERTIONS")
  list(JOIN WHORL_SANITIZE "," whorl_sanitizers)
  add_compile_options(-fsanitize=${whorl_sanitizers} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  # Each test is a process of its own, and a quarter of the start of a position-independent one is the
  # dynamic linker's work on 1.7 million relocations.
  add_link_options(-fsanitize=${whorl_sanitizers}
                   $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

# What libFuzzer's targets (tests/fuzz/) drive is compiled with WHORL_FUZZED, which reports the branches
# taken. Not all libraries are: it takes a quarter more time to compile, and slows down every test.
option(WHORL_FUZZ "Build the fuzz targets; clang only. On in the asan preset." OFF)
set(WHORL_FUZZED "")
if(WHORL_FUZZ)
  set(WHORL_FUZZED -fsanitize=fuzzer-no-link)
  add_link_options(${WHORL_FUZZED})
endif()
