"""What the tensors of kernels in Triton hold after a launch, by numpy in double precision."""
import numpy as np


def double(*arrays):
    return [array.astype(np.float64) for array in arrays]


def softmax(o, x, s, **_):
    (x,) = double(x)
    x = np.float32(s) * x
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return {"o": exponentials / exponentials.sum(axis=1, keepdims=True)}


def matmul(c, a, b, **_):
    a, b = double(a, b)
    return {"c": a @ b}


def lora_expand(y, x, b, index, **_):
    y, x, b = double(y, x, b)
    for token, adapter in enumerate(index):
        if adapter >= 0:
            y[token] += b[adapter] @ x[token]
    return {"y": y}


def layer_norm(y, x, w, b, n, **_):
    x, w, b = double(x, w, b)
    centred = x - x.mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * w + b}


def transpose(y, x, **_):
    return {"y": x.T.astype(np.float64)}


def grouped_matmul(c, a, b, **_):
    a, b = double(a, b)
    return {"c": a @ b}


def dropout(y, x, u, p, **_):
    x, u = double(x, u)
    return {"y": np.where(u > np.float32(p), x / (1.0 - np.float64(np.float32(p))), 0.0)}


def outer(c, a, b, **_):
    a, b = double(a, b)
    return {"c": a[:, None] * b[None, :]}


def blur(y, x, w, **_):
    x, w = double(x, w)
    padded = np.pad(x, 1)
    return {"y": w[0] * padded[:-2] + w[1] * padded[1:-1] + w[2] * padded[2:]}


def column_sums(y, x, **_):
    (x,) = double(x)
    return {"y": x.sum(axis=0)}


def repeated(y, x, **_):
    (x,) = double(x)
    return {"y": 8 * x}


def wrapped(y, x, **_):
    y, x = double(y, x)
    return {"y": np.where(np.arange(len(x)) % 256 < 128, x, y)}


def countdown(y, x, **_):
    (x,) = double(x)
    return {"y": (np.arange(len(x)) // 64 + 1) * x}


def row_softmax(y, x, **_):
    (x,) = double(x)
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return {"y": exponentials / exponentials.sum(axis=1, keepdims=True)}


def taps(y, x, w, m, **_):
    x, w = double(x, w)
    return {"y": sum(x[tap:tap + m] @ w[tap] for tap in range(3))}
