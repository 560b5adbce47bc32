"""The files of models/copies: weights with folded batch normalization, in the format that akin loads."""
import hashlib
import json
import os
import struct

import numpy as np
import torch

from network import FILTER_SETS, NUMBERS, ORIENTATIONS, Network, Symmetric

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "copies")


def write(network):
    """Folds batch normalization into the weights. Writes model, weights, and the outputs for reference.rgb."""
    tensors, layers = {}, []

    def fold(name, layer):
        scale = (layer.norm.weight / torch.sqrt(layer.norm.running_var + layer.norm.eps)).detach()
        each = scale.view(-1, *[1] * (layer.weight.dim() - 1))
        weight = (layer.weight.detach() * each).half()
        layer.weight.data = weight.float() / each  # The reference below uses the written weights.
        if layer.inputs != 3:
            weight = weight.flatten(1, 2)
        tensors[f"{name}.weight"] = weight.permute(2, 3, 1, 0).contiguous().numpy()
        tensors[f"{name}.bias"] = (layer.norm.bias - layer.norm.running_mean * scale).detach().numpy()

    def convolution(name, layer, activation):
        return {"op": "conv2d", "name": name, "kernel": [layer.kernel] * 2,
                "in": 3 if layer.inputs == 3 else layer.inputs * ORIENTATIONS, "out": layer.filters * ORIENTATIONS,
                "stride": layer.stride, "pad": layer.pad, "activation": activation, "symmetric": True}

    for name, layer in network.named_children():
        if not isinstance(layer, Symmetric):
            continue
        fold(name, layer)
        if name.startswith(("same", "again")):
            added = convolution(name, layer, "linear")
            layers.append({"op": "residual", "a": added, "b": None, "skip": None, "activation": "relu"})
        elif name in ("conv5", "conv6"):  # Filters as large as their map.
            layers.append({"op": "wholeMap", "name": name, "side": layer.kernel,
                           "in": layer.inputs * ORIENTATIONS, "out": layer.filters * ORIENTATIONS})
        else:
            layers.append(convolution(name, layer, "relu"))
        if name == "conv5":
            layers.append({"op": "takeApart", "channels": NUMBERS * ORIENTATIONS})
    layers.append({"op": "meanOfParts", "count": FILTER_SETS, "channels": NUMBERS * ORIENTATIONS})
    deviation = torch.sqrt(network.even.running_var + network.even.eps)
    weight = network.copy.weight.detach() / deviation
    bias = network.copy.bias.detach() - weight @ network.even.running_mean
    largest = weight.abs().max()  # Only the direction of the result matters.
    weight, bias = (weight / largest).half(), bias / largest
    network.copy.weight.data = weight.float() * deviation
    network.copy.bias.data = bias + weight.float() @ network.even.running_mean
    tensors["copy.weight"], tensors["copy.bias"] = weight.t().contiguous().numpy(), bias.numpy()

    header, data = {}, b""
    for name, values in tensors.items():
        raw = values.tobytes()
        header[name] = {"dtype": "F16" if values.dtype == np.float16 else "F32", "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file = struct.pack("<Q", len(text)) + text + data
    with open(os.path.join(MODEL, "weights.safetensors"), "wb") as out:
        out.write(file)
    model = {"id": "akin-copies-1", "input": {"width": 64, "height": 64}, "layers": layers,
             "head": {"name": "copy", "dim": NUMBERS, "symmetric": True},
             "weights": {"file": "weights.safetensors", "sha256": hashlib.sha256(file).hexdigest(), "bytes": len(file)}}
    with open(os.path.join(MODEL, "model.json"), "w") as out:
        json.dump(model, out, indent=1)
    rgb = np.fromfile(os.path.join(MODEL, "reference.rgb"), np.uint8).reshape(-1, 64, 64, 3)
    with torch.no_grad():
        vectors = network(torch.from_numpy(rgb).permute(0, 3, 1, 2).float() / 255).tolist()
    with open(os.path.join(MODEL, "reference.json"), "w") as out:
        json.dump({"tolerance": 1e-4, "vectors": [[round(v, 7) for v in vector] for vector in vectors]}, out)


def read(views):
    """The network of models/copies, to continue its training. Batch normalization is measured on n x 3 x 64 x 64 of 0 to 1."""
    with open(os.path.join(MODEL, "weights.safetensors"), "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()

    def tensor(name):
        entry = header[name]
        kind = np.float16 if entry["dtype"] == "F16" else np.float32
        values = np.frombuffer(data[slice(*entry["data_offsets"])], kind).astype(np.float32)
        return torch.from_numpy(values.reshape(entry["shape"]))

    def measure(norm, seen):
        over = [0, *range(2, seen[0].dim())]
        norm.running_mean, norm.running_var = seen[0].mean(over), seen[0].var(over, unbiased=False)
        return norm.running_mean, torch.sqrt(norm.running_var + norm.eps)

    def measured(name):
        def hook(norm, seen):
            mean, deviation = measure(norm, seen)
            norm.weight.data, norm.bias.data = deviation, tensor(f"{name}.bias") + mean
        return hook

    def rescaled(norm, seen):
        mean, deviation = measure(norm, seen)
        weight = tensor("copy.weight").t()
        network.copy.weight.data = weight * deviation
        network.copy.bias.data = tensor("copy.bias") + weight @ mean

    network = Network().eval()
    hooks = [network.even.register_forward_pre_hook(rescaled)]
    for name, layer in network.named_children():
        if isinstance(layer, Symmetric):
            layer.weight.data = tensor(f"{name}.weight").permute(3, 2, 0, 1).reshape(layer.weight.shape).contiguous()
            hooks.append(layer.norm.register_forward_pre_hook(measured(name)))
    with torch.no_grad():
        network(views)
    for hook in hooks:
        hook.remove()
    return network.train()
