# Makes the sources of a mutant: copies of the protocol's own, changed as the mutant's file says.
#
#   cmake -D MUTANT=FILE -D FROM=FOLDER -D INTO=FOLDER -P apply.cmake
#
# FILE is a diff without line numbers. After lines that begin with '#', each change is
#
#   @@ PATH            of a source, from the repository's root
#    a line            stands there, and stays
#   -a line            stands there, and goes
#   +a line            comes in its place
#
# The lines that stand there have to be found in the source exactly once: what a mutant means must
# not depend on where the source has moved it.

cmake_minimum_required(VERSION 3.25)

# Takes the first line off the variable `text`, into `line`.
macro(take_line)
  string(FIND "${text}" "\n" end)
  string(SUBSTRING "${text}" 0 ${end} line)
  math(EXPR end "${end} + 1")
  string(SUBSTRING "${text}" ${end} -1 text)
endmacro()

cmake_path(GET MUTANT STEM mutant)

function(complain what)
  message(FATAL_ERROR
    "The mutant ${mutant} does not apply: ${what}. Write tests/mutants/${mutant}.diff anew, so that "
    "it makes the same mistake in the code as it is now.")
endfunction()

# Replaces `old` by `new` in the copy of `path`.
function(change path old new)
  file(READ "${INTO}/${path}" source)
  string(FIND "${source}" "${old}" first)
  string(FIND "${source}" "${old}" last REVERSE)
  if(first EQUAL -1)
    complain("${path} has no such lines:\n${old}")
  elseif(NOT first EQUAL last)
    complain("${path} has these lines twice:\n${old}")
  endif()
  string(REPLACE "${old}" "${new}" source "${source}")
  file(WRITE "${INTO}/${path}" "${source}")
endfunction()

file(READ "${MUTANT}" text)
set(path "")
set(old "")
set(new "")
set(copied "")
while(NOT text STREQUAL "")
  take_line()
  if(line MATCHES "^@@ (.*)$")
    set(next_path "${CMAKE_MATCH_1}")
    if(path)
      change("${path}" "${old}" "${new}")
    endif()
    set(path "${next_path}")
    set(old "")
    set(new "")
    if(NOT path IN_LIST copied)
      list(APPEND copied "${path}")
      file(READ "${FROM}/${path}" source)
      file(WRITE "${INTO}/${path}" "${source}")
    endif()
  elseif(line MATCHES "^#" AND NOT path)
    continue()
  elseif(line MATCHES "^([ +-])(.*)$" AND path)
    if(NOT CMAKE_MATCH_1 STREQUAL "+")
      string(APPEND old "${CMAKE_MATCH_2}\n")
    endif()
    if(NOT CMAKE_MATCH_1 STREQUAL "-")
      string(APPEND new "${CMAKE_MATCH_2}\n")
    endif()
  else()
    complain("this line of it is no change: ${line}")
  endif()
endwhile()
if(NOT path)
  complain("it changes nothing")
endif()
change("${path}" "${old}" "${new}")
