# The libraries the project stands on, all from Debian 12 (apt-packages.txt says what each is for).

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(mimalloc REQUIRED)

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

# What check/ reads histories with. RapidJSON is headers only; of the others the archives, as binding one
# more shared library would be felt at each start of the command.
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/document.h REQUIRED)
find_library(WHORL_RE2_LIBRARY NAMES libre2.a re2 REQUIRED)
find_library(WHORL_ZLIB_LIBRARY NAMES libz.a z REQUIRED)
find_library(WHORL_ZSTD_LIBRARY NAMES libzstd.a zstd REQUIRED)
set(whorl_history_formats ${WHORL_RE2_LIBRARY} ${WHORL_ZLIB_LIBRARY} ${WHORL_ZSTD_LIBRARY})

# Abseil's value types, and nothing of it that has a clock, a random generator or a seeded hash
# order in its interface: all that protocol/ and spanner_model/ may link.
add_library(whorl_value_types INTERFACE)
set(whorl_abseil
  absl::btree absl::fixed_array absl::inlined_vector absl::int128 absl::span
  absl::status absl::statusor absl::str_format absl::strings absl::time)

# The archives of these targets and of what they need, instead of their shared libraries; nothing if
# one is missing.
function(whorl_archives_of variable)
  set(open ${ARGN})
  set(met)
  set(archives)
  while(open)
    list(POP_FRONT open target)
    if(NOT TARGET "${target}" OR target IN_LIST met)
      continue()
    endif()
    list(APPEND met ${target})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
      get_target_property(file ${target} LOCATION)
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" file "${file}")
      if(NOT EXISTS "${file}")
        set(${variable} "" PARENT_SCOPE)
        return()
      endif()
      list(APPEND archives "${file}")
    endif()
    get_target_property(needed ${target} INTERFACE_LINK_LIBRARIES)
    if(needed)
      list(APPEND open ${needed})
    endif()
  endwhile()
  set(${variable} ${archives} PARENT_SCOPE)
endfunction()

# Three of four instructions of a start were spent on binding the symbols of 25 shared libraries, so
# an executable with the property WHORL_STARTS_FAST gets archives. What speaks gRPC cannot: gRPC's own
# Abseil is shared, and there must be one in a program.
whorl_archives_of(whorl_abseil_archives ${whorl_abseil})
set(starts_fast "$<BOOL:$<TARGET_PROPERTY:WHORL_STARTS_FAST>>")
foreach(library IN LISTS whorl_abseil)
  target_link_libraries(whorl_value_types INTERFACE "$<$<NOT:${starts_fast}>:${library}>")
endforeach()
add_library(whorl_abseil_archives INTERFACE)
target_link_libraries(whorl_abseil_archives INTERFACE
  "$<LINK_GROUP:RESCAN,${whorl_abseil_archives}>" Threads::Threads)
target_link_libraries(whorl_value_types INTERFACE
  "$<BUILD_INTERFACE:$<${starts_fast}:whorl_abseil_archives>>")
