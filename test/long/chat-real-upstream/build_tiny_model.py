"""Writes a tiny Llama with random weights, and a tokenizer trained on a few lines, to a folder.

It talks nonsense; what matters is the server that is put in front of it. Nothing is downloaded.
Usage: python build_tiny_model.py FOLDER
"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

BEGIN, END = "<|begin|>", "<|end|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}" + BEGIN + "{{ message['role'] }}\n{{ message['content'] }}" + END + "{% endfor %}"
    "{% if add_generation_prompt %}" + BEGIN + "assistant\n{% endif %}"
)
LINES = ["Hello there, how are you?", "The quick brown fox jumps over the lazy dog.", "Grüße aus Köln! 你好 🎉"]


def build_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    # The whole alphabet of bytes: any text can be said, and characters are split between tokens.
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=[BEGIN, END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(LINES, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BEGIN, eos_token=END, pad_token=END)
    fast.chat_template = CHAT_TEMPLATE
    return fast


def main(folder: str) -> None:
    torch.manual_seed(7)
    tokenizer = build_tokenizer()
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=4096,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=3000,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


main(sys.argv[1])
