# What CPack makes of the installed tree: a .deb and a .tar.zst, of the same bytes for the same sources, compiler and SOURCE_DATE_EPOCH.
# tools/plumb package builds them, with checksums and a list of what is in them.
set(CPACK_GENERATOR DEB TZST)
set(CPACK_PACKAGE_NAME plumbline)
set(CPACK_PACKAGE_VENDOR Plumbline)
set(PLUMB_CONTACT "whoever built this package" CACHE STRING "who answers for packages made of this tree: 'Name <address>'")
set(CPACK_PACKAGE_CONTACT "${PLUMB_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "judges kernels of sparse and dense operators against a reference")
set(CPACK_PACKAGE_FILE_NAME plumbline-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/cmake/PlumbPackageTimes.cmake)
set(CPACK_THREADS 1)  # more of them compress to other bytes
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# kernels and programs of one's own are compiled
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, cmake, python3, libfmt-dev, libboost-context-dev, zlib1g-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-numpy, pkg-config")  # verify --python; plug-ins without CMake
include(CPack)
