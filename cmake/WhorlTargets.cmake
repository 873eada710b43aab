# whorl_sources(<variable> <pattern>... [EXCEPT <regex>])
# The .cc files of this folder that match, found again at each build: a new file needs no edit here.
function(whorl_sources variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "")
  file(GLOB_RECURSE found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
       ${arg_UNPARSED_ARGUMENTS})
  if(arg_EXCEPT)
    list(FILTER found EXCLUDE REGEX "^${arg_EXCEPT}")
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# whorl_library(<target> SOURCES <file>... LINKS <target>...)
# A static library; where all is in headers, a library that only carries its links.
function(whorl_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  # They would be run by each executable that links the library.
  if("${arg_SOURCES}" MATCHES "_test\\.cc")
    message(FATAL_ERROR "${target} has files of tests; name them to whorl_test_executable alone")
  endif()
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PUBLIC ${arg_LINKS})
    # Where files are compiled together. Compilers need less than 3 GB for so many, and headers are read, and
    # their templates instantiated, half as often as with the preset's dozen, which tests keep.
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_LINKS})
  endif()
endfunction()

# whorl_part(<target> <part> [OPTIONS <option>...] SOURCES <file>... LINKS <target>...)
# Sources of the library <target> that are compiled with options of their own, as the objects <part>.
function(whorl_part target part)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS;SOURCES;LINKS")
  add_library(${part} OBJECT ${arg_SOURCES})
  set_target_properties(${part} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  target_link_libraries(${part} PRIVATE ${arg_LINKS})
  target_compile_options(${part} PRIVATE ${arg_OPTIONS})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
endfunction()

# whorl_executable(<target> SOURCES <file>... LINKS <target>...)
# An executable; without sources there is no target, and callers ask if(TARGET <target>).
function(whorl_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
  if(arg_SOURCES)
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_LINKS})
  endif()
endfunction()
