# `cmake --build build --target packages` makes Debian packages in build/packages/:
#
#   whorl         the command, and the scenarios
#   whorl-locks   the program that it becomes for all that speaks gRPC; where that is built
#   libwhorl-dev  what find_package(whorl) needs, as `cmake --install` puts it
#
# docs/PACKAGES.md tells who needs which. What each depends on is what dpkg-shlibdeps finds in its programs.

find_program(WHORL_DPKG_SHLIBDEPS dpkg-shlibdeps)
# Who makes the packages answers for them: as Debian's own tools do, by the environment.
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
  set(whorl_contact "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(whorl_contact "local build of whorl <nobody@localhost.invalid>")  # which nobody can write to
endif()
set(WHORL_PACKAGE_CONTACT "${whorl_contact}" CACHE STRING "Maintainer of the Debian packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME whorl)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${WHORL_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)  # xz takes half a minute for the libraries
set(CPACK_COMPONENTS_ALL ${whorl_components})
# Each package is one component, whatever groups there are.
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME whorl)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
  "The command: it replays failure stories of locks, hunts for violations, searches every schedule, and
judges recorded histories. The scenarios are in /usr/share/whorl/scenarios.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS whorl-locks)

if(TARGET whorl-grpc)
  set(CPACK_DEBIAN_LOCKS_PACKAGE_NAME whorl-locks)
  set(CPACK_COMPONENT_LOCKS_DESCRIPTION
    "Locks on real Cloud Spanner: what the command becomes for whorl lock, serve, proxy and conform, and for
replay --on.")
  set(CPACK_DEBIAN_LOCKS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LOCKS_PACKAGE_DEPENDS "whorl (= ${PROJECT_VERSION})")
endif()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libwhorl-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "Static libraries, headers and find_package(whorl), for lock protocols and locks of one's own.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libabsl-dev, nlohmann-json3-dev, libcli11-dev, libxxhash-dev, libre2-dev, zlib1g-dev, libzstd-dev, libmimalloc-dev")
# For the component real_client alone.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS
  "libboost-dev, libgrpc++-dev, libprotobuf-dev, prometheus-cpp-dev")

include(CPack)

if(WHORL_DPKG_SHLIBDEPS)
  add_custom_target(packages
    COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake
    DEPENDS ${installed} ${installed_for_real} whorl
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    COMMENT "Making Debian packages in packages/"
    VERBATIM)
  if(TARGET whorl-grpc)
    add_dependencies(packages whorl-grpc)
  endif()
endif()
