import triton
import triton.language as tl


# y[token, :] += x[token, :R] @ b[index[token]]^T. b: [L, N, R]. A token whose index is -1 has no adapter and stays.
@triton.jit
def lora_expand(y, x, b, index, T, N, L, R: tl.constexpr, TILE_N: tl.constexpr):
    token = tl.program_id(0)
    adapter = tl.load(index + token)
    if adapter < 0:
        return
    n = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    r = tl.arange(0, R)
    row = tl.load(x + token * R + r)
    tile = tl.load(b + (adapter * N + n[:, None]) * R + r[None, :], mask=n[:, None] < N, other=0.0)
    sums = tl.sum(tile.to(tl.float32) * row[None, :], axis=1)
    out = y + token * N + n
    old = tl.load(out, mask=n < N, other=0.0).to(tl.float32)
    tl.store(out, (old + sums).to(tl.float16), mask=n < N)
