# The pages of runs (page/README.md): esbuild bundles their TypeScript, and what it makes becomes a source
# of the command. Without esbuild the command has no pages.

find_program(WHORL_ESBUILD esbuild DOC "Bundles the pages; without it there are none")
if(WHORL_ESBUILD)
  set(WHORL_HAS_PAGES ON)
else()
  message(WARNING "whorl is built WITHOUT PAGES: --html will say so and write none. "
    "Missing: esbuild, which `./dev build` installs (Debian's package esbuild).")
endif()

# whorl_add_page(<target>): the pages as a source of that target. One that is without pages has the same
# source with nothing in it, so that only this file is compiled again once there is an esbuild.
function(whorl_add_page target)
  set(page ${PROJECT_SOURCE_DIR}/page/src)
  set(script ${PROJECT_SOURCE_DIR}/cmake/bundle_page.cmake)
  set(built ${PROJECT_BINARY_DIR}/generated/built_page.cc)
  if(WHORL_HAS_PAGES)
    set(esbuild ${WHORL_ESBUILD})
    file(GLOB needed CONFIGURE_DEPENDS ${page}/*.ts ${page}/*.html ${page}/*.css)
    list(APPEND needed ${esbuild} ${PROJECT_SOURCE_DIR}/page/tsconfig.json)
  endif()
  add_custom_command(OUTPUT ${built}
    COMMAND ${CMAKE_COMMAND} -D "ESBUILD=${esbuild}" -D "OUT=${built}" -P ${script}
    DEPENDS ${script} ${needed}
    COMMENT "Bundling the pages"
    VERBATIM)
  set_source_files_properties(${built} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${built})
  target_link_libraries(${target} PRIVATE ${WHORL_ZLIB_LIBRARY})
endfunction()
