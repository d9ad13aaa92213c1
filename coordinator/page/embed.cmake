# Makes one C++ source of the page: cmake -D OUTPUT=… -P embed.cmake.
cmake_minimum_required(VERSION 3.25)

set(source "// Made by embed.cmake of the files beside it.
#include \"coordinator/page/page_files.h\"

namespace redlock::coordinator {
")
foreach(part Html Css Js)
  string(TOLOWER ${part} suffix)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/page.${suffix} text)
  string(APPEND source "\nconst std::string_view kPage${part} = R\"page(${text})page\";\n")
endforeach()
file(WRITE ${OUTPUT} "${source}\n}  // namespace redlock::coordinator\n")
