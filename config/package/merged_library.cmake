# A folder of ours is a library of its own, but whoever links the client wants one archive.
#
#   redlock_merged_library(client ROOT redlock_client OUT_NEEDS needs)
#
# makes libredlock-client.a of the objects of ROOT and of every library of ours that ROOT links,
# and tells in OUT_NEEDS which libraries of others they want: some of the likes of
# uv_static and md_static.
#
# A program may link several such archives. What they share is in each of them, as the same object
# files; a linker that has found a symbol in one archive takes no other object for it.
function(redlock_merged_library name)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "ROOT;OUT_NEEDS" "")
  redlock_linked_libraries(${given_ROOT} ours others)
  list(TRANSFORM ours REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(redlock_merged_${name} STATIC ${objects})
  set_target_properties(redlock_merged_${name} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME redlock-${name} EXPORT_NAME ${name})
  set(${given_OUT_NEEDS} ${others} PARENT_SCOPE)
endfunction()

# The static libraries of ours that a target links, itself included, and those of others.
function(redlock_linked_libraries root out_ours out_others)
  set(ours "")
  set(others "")
  set(pending ${root})
  while(pending)
    list(POP_FRONT pending target)
    get_target_property(aliased ${target} ALIASED_TARGET)
    if(aliased)
      set(target ${aliased})
    endif()
    get_target_property(type ${target} TYPE)
    if(target MATCHES "^(uv|lua|md|ssl|crypto)_static$")
      list(APPEND others ${target})
      if(target STREQUAL ssl_static)
        list(APPEND others crypto_static)
      endif()
    elseif(type STREQUAL STATIC_LIBRARY AND NOT target IN_LIST ours)
      list(APPEND ours ${target})
      get_target_property(linked ${target} LINK_LIBRARIES)
      if(linked)
        list(APPEND pending ${linked})
      endif()
    endif()
  endwhile()
  list(REMOVE_DUPLICATES others)
  set(${out_ours} ${ours} PARENT_SCOPE)
  set(${out_others} ${others} PARENT_SCOPE)
endfunction()
