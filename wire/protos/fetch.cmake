# cmake [-D PIN=FILE] [-D INTO=FOLDER] -P fetch.cmake
#
# Fetches Google's protos, the archive that PIN names by its hash, into INTO, unless they are there
# already. INTO is never left half full. Without npm, but from npm's registry, or from the one that
# the environment variable npm_config_registry names, as it does for npm.

cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED PIN)
  set(PIN ${CMAKE_CURRENT_LIST_DIR}/google-proto-files.pin)
endif()
if(NOT DEFINED INTO)
  cmake_path(SET INTO NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../.deps/google-proto-files)
endif()

file(STRINGS ${PIN} line REGEX "^[^#]")
if(NOT line MATCHES "^([^ ]+) ([^ ]+) ([0-9a-f]+)$")
  message(FATAL_ERROR "${PIN} names no package with version and hash")
endif()
set(package ${CMAKE_MATCH_1})
set(version ${CMAKE_MATCH_2})
set(pinned ${CMAKE_MATCH_3})

if(EXISTS ${INTO}/INTEGRITY)
  file(READ ${INTO}/INTEGRITY present)
  if(present STREQUAL pinned)
    return()
  endif()
endif()

set(registry https://registry.npmjs.org)
if(NOT "$ENV{npm_config_registry}" STREQUAL "")
  string(REGEX REPLACE "/+$" "" registry "$ENV{npm_config_registry}")
endif()
set(url ${registry}/${package}/-/${package}-${version}.tgz)

# A name of its own, so that two that fetch at once do not meet.
string(RANDOM LENGTH 8 random)
set(scratch ${INTO}.fetching-${random})
function(give_up)
  file(REMOVE_RECURSE ${scratch})
  string(CONCAT text ${ARGN})
  message(FATAL_ERROR "Google's protos were not fetched, which what speaks gRPC needs: ${text}")
endfunction()

message(STATUS "Fetching Google's protos: ${url}")
file(MAKE_DIRECTORY ${scratch})
# The hash is compared below, since EXPECTED_HASH would also blame it for a network that is down.
file(DOWNLOAD ${url} ${scratch}/archive.tgz TLS_VERIFY ON INACTIVITY_TIMEOUT 60 STATUS status)
list(POP_FRONT status code)
if(NOT code EQUAL 0)
  give_up("${url}: ${status}")
endif()
file(SHA512 ${scratch}/archive.tgz found)
if(NOT found STREQUAL pinned)
  # A download that a full disk cut off is none that failed, for CMake.
  execute_process(COMMAND ${CMAKE_COMMAND} -E copy ${scratch}/archive.tgz ${scratch}/copy
    RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
  if(NOT code EQUAL 0)
    give_up("there is no room for the archive in ${scratch}")
  endif()
  give_up("${url} is not the archive that ${PIN} pins, so nothing of it is used: "
          "its SHA-512 is ${found}")
endif()

# --touch: the archive's times lie in 1985, where ninja would miss that a file has changed.
# Not by CMake's own tar, which ends with 0 on a full disk, too.
set(folders api iam longrunning rpc spanner type)
list(TRANSFORM folders PREPEND package/google/)
execute_process(
  COMMAND tar --extract --gzip --touch --no-same-owner --file=archive.tgz ${folders}
  WORKING_DIRECTORY ${scratch} RESULT_VARIABLE code ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  give_up("tar could not extract the archive in ${scratch}: ${said}")
endif()
file(WRITE ${scratch}/package/INTEGRITY ${pinned})
# One that was there before is another version's: its file INTEGRITY says so until it is gone.
file(REMOVE_RECURSE ${INTO})
file(RENAME ${scratch}/package ${INTO})
file(REMOVE_RECURSE ${scratch})
