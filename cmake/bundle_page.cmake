# cmake -D ESBUILD=PROGRAM -D OUT=FILE.cc -P bundle_page.cmake
#
# Bundles the TypeScript of page/ into pages, and writes them as the source that defines BuiltPage
# (cli/page_parts.h). With an empty ESBUILD the pages of that source are empty.

cmake_minimum_required(VERSION 3.25)

set(page_dir ${CMAKE_CURRENT_LIST_DIR}/../page/src)
set(kinds main compare index bench play)  # in the order of PageKind

# What Content-Security-Policy calls the text: CMake has its SHA-256 in hexadecimal, and the policy
# wants base64, of which two digits say what three of hexadecimal say.
function(policy_hash variable text)
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(SHA256 left "${text}")
  string(APPEND left "00")  # 32 bytes are padded to 33
  set(base64 "")
  while(NOT left STREQUAL "")
    string(SUBSTRING "${left}" 0 3 three)
    string(SUBSTRING "${left}" 3 -1 left)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    foreach(digit IN ITEMS ${high} ${low})
      string(SUBSTRING "${digits}" ${digit} 1 digit)
      string(APPEND base64 "${digit}")
    endforeach()
  endwhile()
  string(REGEX REPLACE ".$" "=" base64 "${base64}")  # what padding said
  set(${variable} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

function(read variable file)
  file(READ ${page_dir}/${file} text)
  string(STRIP "${text}" text)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Puts the text into the page, where `mark` stands once.
function(put mark text)
  string(FIND "${page}" "${mark}" first)
  string(FIND "${page}" "${mark}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "page/src/frame.html wants ${mark} once")
  endif()
  string(REPLACE "${mark}" "${text}" page "${page}")
  set(page "${page}" PARENT_SCOPE)
endfunction()

# The page of page/src/KIND.ts and page/src/KIND.html, as the two fields of PageParts: the text before
# its data, and the text after.
function(page_parts variable kind)
  execute_process(
    COMMAND ${ESBUILD} ${page_dir}/${kind}.ts --bundle --minify --format=iife --target=es2022
            --charset=utf8 --log-level=warning
    OUTPUT_VARIABLE script COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${script}" script)
  policy_hash(script_hash "${script}")
  read(style page.css)
  policy_hash(style_hash "${style}")
  # Only this script and this style may run, and nothing may be fetched from anywhere. The playground is the one
  # exception: it asks the server that it came from, and shows runs in a frame.
  set(policy "default-src 'none'; script-src ${script_hash}; style-src ${style_hash}; ")
  if(kind STREQUAL "play")
    string(APPEND policy "connect-src 'self'; frame-src 'self'; ")
  endif()
  string(APPEND policy "base-uri 'none'; form-action 'none'")
  read(body ${kind}.html)
  file(READ ${page_dir}/frame.html page)
  put(@BODY@ "${body}")
  put(@POLICY@ "${policy}")
  put(@STYLE@ "${style}")
  put(@SCRIPT@ "${script}")
  string(FIND "${page}" ")page\"" end_of_literal)
  if(NOT end_of_literal EQUAL -1)
    message(FATAL_ERROR "The page of ${kind} has )page\", which ends it as a literal of C++")
  endif()
  put(@DATA@ ")page\"sv, R\"page(")
  set(${variable} "R\"page(${page})page\"sv" PARENT_SCOPE)
endfunction()

set(pages "")
foreach(kind IN LISTS kinds)
  if(ESBUILD)
    page_parts(parts ${kind})
  else()
    set(parts "")
  endif()
  string(APPEND pages "    {${parts}},\n")
endforeach()

file(WRITE ${OUT} "// Written by cmake/bundle_page.cmake.
#include \"cli/page_parts.h\"

#include <cstddef>

// A page may be longer than the texts that every compiler takes.
#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace whorl::cli {

using namespace std::string_view_literals;

PageParts BuiltPage(PageKind kind) {
  static constexpr PageParts kPages[] = {
${pages}  };
  return kPages[static_cast<size_t>(kind)];
}

}  // namespace whorl::cli
")
