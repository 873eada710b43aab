# The libraries the project stands on, all from Debian 12 (apt-packages.txt says what each is for).

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# The command whorl does without these: what needs one that is missing is left out.
find_package(Boost QUIET)
find_package(GTest QUIET)
find_package(rapidcheck QUIET)
find_package(benchmark QUIET)
if(NOT Boost_FOUND)
  message(STATUS "No Boost: real locks, and whatever speaks gRPC, are left out")
endif()
if(NOT GTest_FOUND OR NOT rapidcheck_FOUND)
  message(STATUS "No GoogleTest or no rapidcheck: the tests are left out")
endif()
if(NOT benchmark_FOUND)
  message(STATUS "No Google Benchmark: the benchmarks are left out")
endif()

# xxhash is used as a header (the source defines XXH_INLINE_ALL), so that no library of it is linked.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(whorl_xxhash INTERFACE)
target_include_directories(whorl_xxhash SYSTEM INTERFACE $<BUILD_INTERFACE:${XXHASH_INCLUDE_DIR}>)

# Abseil's value types, and nothing of it that has a clock, a random generator or a seeded hash
# order in its interface: all that protocol/ and spanner_model/ may link.
add_library(whorl_value_types INTERFACE)
target_link_libraries(whorl_value_types INTERFACE
  absl::btree absl::fixed_array absl::inlined_vector absl::int128 absl::span
  absl::status absl::statusor absl::str_format absl::strings absl::time)
