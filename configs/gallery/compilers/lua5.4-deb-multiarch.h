#define DEB_HOST_MULTIARCH "lib"
