# What find_package(sim_node) gives: sim_node::ring, the header beside this folder, for targets in C and C++.
# It needs no ROS: -DCMAKE_PREFIX_PATH="$(sim-node inspect include-dir)" leads here.
if(NOT TARGET sim_node::ring)
  add_library(sim_node::ring INTERFACE IMPORTED)
  get_filename_component(_sim_node_include "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
  set_target_properties(sim_node::ring PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_sim_node_include}"
    INTERFACE_COMPILE_DEFINITIONS "$<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>") # compilers of C++ define it themselves
  unset(_sim_node_include)
endif()
