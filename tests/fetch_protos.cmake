# cmake -D FETCH=wire/protos/fetch.cmake -D SCRATCH=FOLDER -P fetch_protos.cmake
#
# Google's protos are those that are pinned, or none: what becomes of right and wrong archives, by a
# registry in a folder.

cmake_minimum_required(VERSION 3.25)

set(registry ${SCRATCH}/registry)
set(into ${SCRATCH}/deps/protos)
set(pin ${SCRATCH}/protos.pin)
file(REMOVE_RECURSE ${SCRATCH})

function(offer content)  # an archive whose protos have that content; its hash is then in `hash`
  set(made ${SCRATCH}/made)
  foreach(folder IN ITEMS api iam longrunning rpc spanner/v1 type ads)
    file(WRITE ${made}/package/google/${folder}/one.proto "${content}")
  endforeach()
  file(MAKE_DIRECTORY ${registry}/protos/-)
  set(archive ${registry}/protos/-/protos-1.0.0.tgz)
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar czf ${archive} --mtime=1985-10-26 package
    WORKING_DIRECTORY ${made} COMMAND_ERROR_IS_FATAL ANY)
  file(SHA512 ${archive} hash)
  set(hash ${hash} PARENT_SCOPE)
endfunction()

function(pin hash)
  file(WRITE ${pin} "# a comment\nprotos 1.0.0 ${hash}\n")
endfunction()

function(fetch)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env npm_config_registry=file://${registry}/
            ${CMAKE_COMMAND} -D PIN=${pin} -D INTO=${into} -P ${FETCH}
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(REGEX REPLACE "[ \n]+" " " said "${out}${err}")  # CMake breaks lines
  set(code ${code} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_fetched content)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "not fetched: ${said}")
  endif()
  expect_there("${content}")
endfunction()

function(expect_refused why)
  if(code EQUAL 0 OR NOT said MATCHES "${why}")
    message(FATAL_ERROR "wanted a failure that says '${why}', got code ${code}: ${said}")
  endif()
endfunction()

function(expect_there content)
  file(READ ${into}/google/spanner/v1/one.proto found)
  if(NOT found STREQUAL content)
    message(FATAL_ERROR "wanted '${content}', got '${found}'")
  endif()
  expect_beside(protos)
endfunction()

function(expect_beside)  # nothing but these stands where protos belong
  file(GLOB found RELATIVE ${SCRATCH}/deps ${SCRATCH}/deps/*)
  if(NOT found STREQUAL "${ARGN}")
    message(FATAL_ERROR "wanted '${ARGN}' in deps/, got '${found}'")
  endif()
endfunction()

# An archive with another hash: nothing of it is used.
offer(first)
string(REPEAT "0" 128 wrong)
pin(${wrong})
fetch()
expect_refused("is not the archive that .* pins, so nothing of it is used: its SHA-512 is ${hash}")
expect_beside()

# The right one: what is wanted of it, with times of now.
pin(${hash})
fetch()
expect_fetched(first)
if(EXISTS ${into}/google/ads)
  message(FATAL_ERROR "more was extracted than is wanted")
endif()
if(NOT ${into}/google/api/one.proto IS_NEWER_THAN ${pin})
  message(FATAL_ERROR "the files have the archive's times")
endif()

# It is there: nobody is asked.
file(RENAME ${registry} ${registry}.away)
fetch()
expect_fetched(first)

# Another one is pinned, and cannot be had: what was there stays.
pin(${wrong})
fetch()
expect_refused("protos-1[.]0[.]0[.]tgz: ")
expect_there(first)
file(RENAME ${registry}.away ${registry})
fetch()
expect_refused("so nothing of it is used")
expect_there(first)

# It can be had, and takes the place of what was there.
offer(second)
pin(${hash})
fetch()
expect_fetched(second)

# One that is no archive.
file(WRITE ${registry}/protos/-/protos-1.0.0.tgz "no archive")
file(SHA512 ${registry}/protos/-/protos-1.0.0.tgz hash)
pin(${hash})
fetch()
expect_refused("tar could not extract the archive")
expect_there(second)

file(REMOVE_RECURSE ${SCRATCH})
