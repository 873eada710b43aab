# `cmake --install build --prefix P`: the command, and what find_package(whorl) needs to build
# protocols outside of this repository (protocol/ADDING.md): libraries without gRPC, and their
# headers under P/include/whorl, so that they are included as here: "protocol/machine.h".

#
# Components are what WhorlPackage.cmake makes packages of: `command`, `locks` and, if nothing else is said,
# `development`.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(whorl_components command development)
set(whorl_packages whorl libwhorl-dev)
if(TARGET whorl-grpc)
  list(APPEND whorl_components locks)
  list(APPEND whorl_packages whorl-locks)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/whorl)
set(headers_dir ${CMAKE_INSTALL_INCLUDEDIR}/whorl)

# What a user names comes first: whorl::protocol, whorl::sim, whorl::check, whorl::cli.
set(installed protocol sim check cli page spanner_model spanner_vocabulary base value_types xxhash)
foreach(name IN LISTS installed)
  set_target_properties(whorl_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
list(TRANSFORM installed PREPEND whorl_)

install(TARGETS ${installed} EXPORT whorl
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${headers_dir})
install(EXPORT whorl NAMESPACE whorl:: FILE whorlTargets.cmake DESTINATION ${package_dir})
install(TARGETS whorl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/whorl COMPONENT command
  FILES_MATCHING PATTERN "*.json")
if(TARGET whorl-play)
  install(TARGETS whorl-play
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/whorl COMPONENT command)
endif()
if(TARGET whorl-grpc)
  # Nobody types it: whorl finds it there (cli/grpc_commands.h).
  install(TARGETS whorl-grpc
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/whorl COMPONENT locks)
endif()
install(DIRECTORY base protocol spanner_model sim check DESTINATION ${headers_dir}
  FILES_MATCHING PATTERN "*.h" PATTERN "spanner_model/server" EXCLUDE)
install(FILES cli/command_line.h DESTINATION ${headers_dir}/cli)

# Real locks bring gRPC along, so they are a component that one asks for.
if(TARGET whorl_real_client)
  set(installed_for_real whorl_real_client whorl_lock_metrics whorl_lock_host whorl_wire whorl_google_protos)
  set_target_properties(whorl_real_client PROPERTIES EXPORT_NAME real_client)
  set_target_properties(whorl_lock_metrics PROPERTIES EXPORT_NAME lock_metrics)
  set_target_properties(whorl_lock_host PROPERTIES EXPORT_NAME lock_host)
  set_target_properties(whorl_wire PROPERTIES EXPORT_NAME wire)
  set_target_properties(whorl_google_protos PROPERTIES EXPORT_NAME google_protos)
  if(TARGET whorl_google_cloud)
    set(WHORL_HAS_GOOGLE_CLOUD ON)
    list(APPEND installed_for_real whorl_google_cloud)
    set_target_properties(whorl_google_cloud PROPERTIES EXPORT_NAME google_cloud)
    install(FILES real_client/google_cloud/google_cloud_client.h
      DESTINATION ${headers_dir}/real_client/google_cloud)
  endif()
  install(TARGETS ${installed_for_real} EXPORT whorlRealClient
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${headers_dir})
  install(EXPORT whorlRealClient NAMESPACE whorl:: FILE whorlRealClientTargets.cmake
    DESTINATION ${package_dir})
  # Those that need no header of gRPC.
  install(FILES real_client/admin_client.h real_client/lock.h real_client/lock_log.h
    real_client/lock_metrics.h     real_client/options.h
    real_client/spanner_client.h real_client/transaction_client.h
    DESTINATION ${headers_dir}/real_client)
endif()

configure_package_config_file(cmake/whorlConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/whorlConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/whorlConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/generated/whorlConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/whorlConfigVersion.cmake
  DESTINATION ${package_dir})

# Where Debian looks for it, beside what each package installs.
foreach(component package IN ZIP_LISTS whorl_components whorl_packages)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright
    COMPONENT ${component})
endforeach()
