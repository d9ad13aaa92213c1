# Makes one C++ source of the page: cmake -D OUTPUT=… -P embed.cmake. The style and the scripts
# are put where page.html says so; the page is cut where the history goes.
cmake_minimum_required(VERSION 3.25)

set(here ${CMAKE_CURRENT_LIST_DIR})
file(READ ${here}/page.html page)
file(READ ${here}/style.css style)
set(script "")
foreach(part data view draw overview hover main)
  file(READ ${here}/${part}.js text)
  string(APPEND script "${text}\n")
endforeach()

string(REPLACE "/*STYLE*/" "${style}" page "${page}")
string(REPLACE "/*SCRIPT*/" "${script}" page "${page}")
string(FIND "${page}" "/*HISTORY*/" begin)
string(LENGTH "/*HISTORY*/" length)
math(EXPR rest "${begin} + ${length}")
string(SUBSTRING "${page}" 0 ${begin} page_begin)
string(SUBSTRING "${page}" ${rest} -1 page_end)

file(WRITE ${OUTPUT} "// Made by embed.cmake of the files beside it.
#include \"coordinator/drill/timeline/timeline_page.h\"

namespace redlock::drill {

const std::string_view kPageBegin = R\"page(${page_begin})page\";
const std::string_view kPageEnd = R\"page(${page_end})page\";

}  // namespace redlock::drill
")
