"""How far reading can be pushed: light, lens, distance, tilt and hands made worse step by step, on rendered and real
pictures with their truth, up to the point where the table asks, and past it."""
