# Makes one C++ source of the page: cmake -D OUTPUT=… -P embed.cmake. The style is put where
# page.html says so; the page is cut where its body goes.
cmake_minimum_required(VERSION 3.25)

set(here ${CMAKE_CURRENT_LIST_DIR})
file(READ ${here}/page.html page)
file(READ ${here}/style.css style)
string(REPLACE "/*STYLE*/" "${style}" page "${page}")
set(cut "<!--BODY-->")
string(FIND "${page}" "${cut}" begin)
string(LENGTH "${cut}" length)
math(EXPR rest "${begin} + ${length}")
string(SUBSTRING "${page}" 0 ${begin} page_begin)
string(SUBSTRING "${page}" ${rest} -1 page_end)

file(WRITE ${OUTPUT} "// Made by embed.cmake of the files beside it.
#include \"coordinator/bench/page/bench_page_frame.h\"

namespace redlock::coordinator {

const std::string_view kBenchPageBegin = R\"page(${page_begin})page\";
const std::string_view kBenchPageEnd = R\"page(${page_end})page\";

}  // namespace redlock::coordinator
")
