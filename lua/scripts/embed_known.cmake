# Makes one C++ source of the scripts in known/: cmake -D OUTPUT=… -P embed_known.cmake. Each must have
# the SHA-1 that known/index.txt says.
cmake_minimum_required(VERSION 3.25)

set(known ${CMAKE_CURRENT_LIST_DIR}/known)
file(STRINGS ${known}/index.txt lines REGEX "^[0-9a-f]")
set(rows "")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" words ${line})
  list(GET words 0 sha1)
  list(GET words 1 name)
  list(GET words 2 form)
  list(GET words 3 keys)
  list(GET words 4 args)
  foreach(count IN ITEMS keys args)
    string(REPLACE "n" "NativeForm::kAny" ${count} ${${count}})
  endforeach()
  file(SHA1 ${known}/${name}.lua found)
  if(NOT found STREQUAL sha1)
    message(FATAL_ERROR "${name}.lua has the SHA-1 ${found}, and not ${sha1}: it is no longer byte "
      "for byte what its library sends")
  endif()
  file(READ ${known}/${name}.lua body)
  set(is_nil_if_held false)
  if("nil_if_held" IN_LIST words)
    set(is_nil_if_held true)
  endif()
  set(compares value)
  foreach(other IN ITEMS value_beside_counter first_bytes nothing)
    if("compares_${other}" IN_LIST words)
      set(compares ${other})
    endif()
  endforeach()
  string(APPEND rows "    {\"${sha1}\", R\"lua(${body})lua\",\n"
    "     {native::${form}, ${keys}, ${args}}, ${is_nil_if_held}, Compares::${compares}},\n")
endforeach()

file(WRITE ${OUTPUT} "// Made by embed_known.cmake of the scripts in known/.
#include \"lua/scripts/known_scripts.h\"
#include \"lua/scripts/native_forms.h\"

namespace redlock::lua {

constexpr KnownScript kKnownScripts[] = {
${rows}};

std::span<const KnownScript> known_scripts() {
  return kKnownScripts;
}

}  // namespace redlock::lua
")
