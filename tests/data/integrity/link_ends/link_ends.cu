// from every place down the links, as long as they lead to a lower one
extern "C" __global__ void link_ends(const int* link, int* end, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i;
  while (link[at] < at) at = link[at];
  end[i] = at;
}
