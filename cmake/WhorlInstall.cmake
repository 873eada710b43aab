# `cmake --install build --prefix P`: the command, and what find_package(whorl) needs to build
# protocols outside of this repository (protocol/ADDING.md): libraries without gRPC, and their
# headers under P/include/whorl, so that they are included as here: "protocol/machine.h".

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/whorl)
set(headers_dir ${CMAKE_INSTALL_INCLUDEDIR}/whorl)

# What a user names comes first: whorl::protocol, whorl::sim, whorl::cli.
set(installed protocol sim cli spanner_model spanner_vocabulary value_types xxhash)
foreach(name IN LISTS installed)
  set_target_properties(whorl_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
list(TRANSFORM installed PREPEND whorl_)

install(TARGETS ${installed} EXPORT whorl
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${headers_dir})
install(EXPORT whorl NAMESPACE whorl:: FILE whorlTargets.cmake DESTINATION ${package_dir})
install(TARGETS whorl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY protocol spanner_model sim DESTINATION ${headers_dir}
  FILES_MATCHING PATTERN "*.h" PATTERN "spanner_model/server" EXCLUDE)
install(FILES cli/command_line.h DESTINATION ${headers_dir}/cli)

configure_package_config_file(cmake/whorlConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/whorlConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/whorlConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/generated/whorlConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/whorlConfigVersion.cmake
  DESTINATION ${package_dir})
