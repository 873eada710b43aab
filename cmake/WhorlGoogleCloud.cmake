# Google's own client library for Spanner, where it is installed (CMAKE_PREFIX_PATH says where).

# whorl_find_google_cloud(<variable>)
# The proto libraries that come with it, if it is there and can be used; else nothing.
function(whorl_find_google_cloud variable)
  set(${variable} "" PARENT_SCOPE)
  find_package(google_cloud_cpp_spanner QUIET)
  if(NOT google_cloud_cpp_spanner_FOUND)
    return()
  endif()
  # A program can have the code of a proto only once, so wire/ has to do with this library's. It
  # needs multiplexed sessions in them.
  get_target_property(folders google-cloud-cpp::spanner_protos INTERFACE_INCLUDE_DIRECTORIES)
  find_file(header google/spanner/v1/spanner.pb.h PATHS ${folders} NO_DEFAULT_PATH NO_CACHE REQUIRED)
  file(STRINGS ${header} found REGEX mutable_mutation_key LIMIT_COUNT 1)
  if(NOT found)
    message(STATUS "google-cloud-cpp ${google_cloud_cpp_spanner_VERSION} is left out: it was built "
                   "with Spanner protos from before November 2024")
    return()
  endif()
  set(${variable}
    google-cloud-cpp::spanner_protos
    google-cloud-cpp::iam_v1_iam_policy_protos
    google-cloud-cpp::longrunning_operations_protos
    google-cloud-cpp::rpc_error_details_protos
    google-cloud-cpp::rpc_status_protos
    PARENT_SCOPE)
endfunction()
