# The pages of runs (page/README.md): esbuild bundles their TypeScript, and what it makes becomes a source
# of the command. Without esbuild the command has no pages.

find_program(WHORL_ESBUILD esbuild DOC "Bundles the pages; without it there are none")
if(WHORL_ESBUILD)
  set(WHORL_HAS_PAGES ON)
else()
  message(WARNING "whorl is built WITHOUT PAGES: --html will say so and write none. "
    "Missing: esbuild, which `./dev build` installs (Debian's package esbuild).")
endif()

# whorl_add_page(<target>): a library with the pages, or with none, of which one file is compiled again once
# there is an esbuild. By itself, since what has a source that is made waits for all that it links.
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
  whorl_library(${target} SOURCES ${built})
endfunction()
