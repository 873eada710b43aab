# Applies every mutant of this folder to the sources, and names all that do not apply. It takes
# seconds; building the mutants would say the same of the first one after minutes.
#
#   cmake -D FROM=FOLDER -D INTO=FOLDER -P apply_all.cmake

cmake_minimum_required(VERSION 3.25)

file(GLOB mutants ${CMAKE_CURRENT_LIST_DIR}/*.diff)
set(failed 0)
foreach(mutant IN LISTS mutants)
  cmake_path(GET mutant STEM name)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D MUTANT=${mutant} -D FROM=${FROM} -D INTO=${INTO}/${name}
            -P ${CMAKE_CURRENT_LIST_DIR}/apply.cmake
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    math(EXPR failed "${failed} + 1")
  endif()
endforeach()
list(LENGTH mutants count)
if(count EQUAL 0 OR NOT failed EQUAL 0)
  message(FATAL_ERROR "${failed} of ${count} mutants do not apply")
endif()
message(STATUS "${count} mutants apply")
