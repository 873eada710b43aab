# The page of a run (page/README.md): its TypeScript is checked and bundled by the tools that ./dev
# fetched with npm, and becomes a source of the command. Without them the command has no pages.

set(WHORL_PAGE_TOOLS ${PROJECT_SOURCE_DIR}/.deps/page CACHE PATH
    "A folder with the node_modules of page/package-lock.json")
find_program(WHORL_NODE node)
# The archive: binding one more shared library would be felt at each start of the command.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB QUIET)
# Looked for again at each build, so that tools that were fetched later are found.
file(GLOB page_tools CONFIGURE_DEPENDS
  ${WHORL_PAGE_TOOLS}/node_modules/esbuild/package.json
  ${WHORL_PAGE_TOOLS}/node_modules/typescript/package.json)
list(LENGTH page_tools page_tools_found)

set(missing)
if(NOT WHORL_NODE)
  list(APPEND missing "node")
endif()
if(page_tools_found LESS 2)
  list(APPEND missing "the tools of page/package-lock.json in ${WHORL_PAGE_TOOLS}")
endif()
if(NOT ZLIB_FOUND)
  list(APPEND missing "zlib")
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(WARNING "whorl is built WITHOUT PAGES: --html will say so and write none. "
    "Missing: ${missing}. `./dev build` installs and fetches them.")
else()
  set(WHORL_HAS_PAGES ON)
endif()

# whorl_add_page(<target>): the page as a source of that target, if it can be built.
function(whorl_add_page target)
  if(NOT WHORL_HAS_PAGES)
    return()
  endif()
  set(page ${PROJECT_SOURCE_DIR}/page)
  set(built ${PROJECT_BINARY_DIR}/generated/built_page.cc)
  file(GLOB page_sources CONFIGURE_DEPENDS ${page}/src/*.ts ${page}/src/*.html ${page}/src/*.css)
  add_custom_command(OUTPUT ${built}
    COMMAND ${WHORL_NODE} ${page}/build.mjs ${WHORL_PAGE_TOOLS} ${built}
    DEPENDS ${page_sources} ${page}/build.mjs ${page}/tsconfig.json
    COMMENT "Bundling the pages"
    VERBATIM)
  target_sources(${target} PRIVATE ${built})
  target_compile_definitions(${target} PRIVATE WHORL_HAS_PAGES)
  target_link_libraries(${target} PRIVATE ZLIB::ZLIB)
endfunction()
