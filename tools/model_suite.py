"""The models of tools/score-models.py: small configurations of well-known architectures, with random weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

__all__ = ["MODELS", "made"]

_TEXT = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 64, "initializer_range": 0.2}  # fmt: skip
_GROUPED = {**_TEXT, "num_key_value_heads": 2, "max_position_embeddings": 64, "use_cache": False}
_IMAGE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
          "image_size": 32, "patch_size": 8, "initializer_range": 0.2}  # fmt: skip
_SEQ2SEQ = {"vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
            "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "use_cache": False,
            "init_std": 0.2, "max_position_embeddings": 64}  # fmt: skip
_T5 = {"vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "use_cache": False}
_SOUND = {**_TEXT, "conv_dim": [16, 16], "conv_stride": [5, 2], "conv_kernel": [10, 3], "num_feat_extract_layers": 2,
          "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2}  # fmt: skip
_VISION = {key: value for key, value in _IMAGE.items() if key != "initializer_range"}

# By name the class of the configuration, the model's class, the configuration and the inputs.
_TRANSFORMERS: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "ALBERT": ("AlbertConfig", "AlbertModel", {**_TEXT, "embedding_size": 16}, ("ids", "mask")),
    "BART": ("BartConfig", "BartModel", _SEQ2SEQ, ("ids", "decoder")),
    "BEiT": ("BeitConfig", "BeitModel", _IMAGE, ("pixels",)),
    "BERT": ("BertConfig", "BertForMaskedLM", _TEXT, ("ids", "mask")),
    "BigBird": ("BigBirdConfig", "BigBirdModel",
                {**_TEXT, "attention_type": "original_full", "max_position_embeddings": 64}, ("ids", "mask")),
    "BiT": ("BitConfig", "BitModel", {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4,
            "num_groups": 4}, ("pixels",)),
    "BLIP text": ("BlipTextConfig", "BlipTextModel", {**_TEXT, "encoder_hidden_size": 32, "use_cache": False,
                  "max_position_embeddings": 64}, ("ids", "mask")),
    "BLOOM": ("BloomConfig", "BloomForCausalLM",
              {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4, "use_cache": False}, ("ids",)),
    "CLIP": ("CLIPConfig", "CLIPModel", {"text_config": {**_TEXT, "max_position_embeddings": 32, "eos_token_id": 98},
             "vision_config": _VISION, "projection_dim": 16}, ("ids", "pixels")),
    "CodeGen": ("CodeGenConfig", "CodeGenForCausalLM", {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4,
                "rotary_dim": 4, "n_positions": 64, "n_ctx": 64, "use_cache": False}, ("ids",)),
    "Cohere": ("CohereConfig", "CohereForCausalLM", _GROUPED, ("ids",)),
    "Cohere 2": ("Cohere2Config", "Cohere2ForCausalLM", {**_GROUPED, "sliding_window": 4}, ("ids",)),
    "ConvBERT": ("ConvBertConfig", "ConvBertModel", {**_TEXT, "embedding_size": 32}, ("ids", "mask")),
    "ConvNeXt V2": ("ConvNextV2Config", "ConvNextV2Model", {"hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4},
                    ("pixels",)),
    "DeBERTa": ("DebertaConfig", "DebertaModel", {**_TEXT, "relative_attention": True, "max_relative_positions": 8,
                "pos_att_type": ["c2p", "p2c"]}, ("ids", "mask")),
    "DeBERTa-v2": ("DebertaV2Config", "DebertaV2Model", _TEXT, ("ids", "mask")),
    "DeepSeek-V3": ("DeepseekV3Config", "DeepseekV3ForCausalLM",
                    {**_TEXT, "use_cache": False, "num_key_value_heads": 4, "n_routed_experts": 4, "n_group": 2,
                     "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "kv_lora_rank": 8,
                     "q_lora_rank": 8, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
                     "first_k_dense_replace": 1}, ("ids",)),
    "DeiT": ("DeiTConfig", "DeiTModel", _IMAGE, ("pixels",)),
    "DETR": ("DetrConfig", "DetrForObjectDetection",
             {"backbone_config": {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 16, 24, 32],
                                  "depths": [1] * 4, "out_features": ["stage4"]},
              "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
              "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_queries": 5,
              "init_std": 0.2}, ("pixels",)),
    "DINOv2": ("Dinov2Config", "Dinov2Model", _IMAGE, ("pixels",)),
    "DINOv3": ("DINOv3ViTConfig", "DINOv3ViTModel", {**_IMAGE, "num_register_tokens": 2}, ("pixels",)),
    "DistilBERT": ("DistilBertConfig", "DistilBertModel",
                   {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}, ("ids", "mask")),
    "DPT": ("DPTConfig", "DPTForDepthEstimation",
            {**_IMAGE, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "fusion_hidden_size": 16,
             "neck_hidden_sizes": [8, 16, 16, 16]}, ("pixels",)),
    "ELECTRA": ("ElectraConfig", "ElectraModel", {**_TEXT, "embedding_size": 16}, ("ids", "mask")),
    "ESM": ("EsmConfig", "EsmModel", {**_TEXT, "pad_token_id": 1, "mask_token_id": 98, "max_position_embeddings": 64,
            "position_embedding_type": "rotary"}, ("ids", "mask")),
    "Falcon": ("FalconConfig", "FalconForCausalLM",
               {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
                "use_cache": False}, ("ids",)),
    "Falcon-Mamba": ("FalconMambaConfig", "FalconMambaForCausalLM", {"vocab_size": 99, "hidden_size": 32,
                     "state_size": 4, "num_hidden_layers": 2, "use_cache": False}, ("ids",)),
    "FNet": ("FNetConfig", "FNetModel", _TEXT, ("ids",)),
    "FocalNet": ("FocalNetConfig", "FocalNetModel", {"image_size": 32, "patch_size": 4, "embed_dim": 8,
                 "depths": [1, 1], "focal_levels": [2, 2], "focal_windows": [3, 3], "hidden_sizes": [8, 16]},
                 ("pixels",)),
    "Funnel": ("FunnelConfig", "FunnelModel", {"vocab_size": 99, "block_sizes": [1, 1], "num_decoder_layers": 1,
               "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 64}, ("ids",)),
    "Gemma": ("GemmaConfig", "GemmaForCausalLM", {**_GROUPED, "head_dim": 8}, ("ids",)),
    "Gemma 2": ("Gemma2Config", "Gemma2ForCausalLM", {**_GROUPED, "head_dim": 8, "sliding_window": 4}, ("ids",)),
    "Gemma 3": ("Gemma3TextConfig", "Gemma3ForCausalLM", {**_GROUPED, "head_dim": 8, "sliding_window": 4}, ("ids",)),
    "GLM-4": ("Glm4Config", "Glm4ForCausalLM", {**_GROUPED, "head_dim": 8, "pad_token_id": 0}, ("ids",)),
    "GLPN": ("GLPNConfig", "GLPNForDepthEstimation", {"hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4,
             "num_attention_heads": [1, 2, 2, 4], "decoder_hidden_size": 16}, ("pixels",)),
    "GPT-2": ("GPT2Config", "GPT2LMHeadModel", {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4,
              "n_positions": 64, "use_cache": False, "initializer_range": 0.2}, ("ids",)),
    "GPT-J": ("GPTJConfig", "GPTJForCausalLM", {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4,
              "rotary_dim": 4, "n_positions": 64, "use_cache": False}, ("ids",)),
    "GPT-Neo": ("GPTNeoConfig", "GPTNeoForCausalLM", {"vocab_size": 99, "hidden_size": 32, "num_layers": 2,
                "attention_types": [[["global", "local"], 1]], "num_heads": 4, "window_size": 4,
                "max_position_embeddings": 64, "use_cache": False, "initializer_range": 0.2}, ("ids",)),
    "GPT-NeoX": ("GPTNeoXConfig", "GPTNeoXForCausalLM", {**_TEXT, "use_cache": False}, ("ids",)),
    "GPT-OSS": ("GptOssConfig", "GptOssForCausalLM",
                {**_GROUPED, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 4},
                ("ids",)),
    "Granite": ("GraniteConfig", "GraniteForCausalLM", _GROUPED, ("ids",)),
    "Granite-MoE-hybrid": ("GraniteMoeHybridConfig", "GraniteMoeHybridForCausalLM",
                           {**_GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2, "mamba_n_heads": 4,
                            "shared_intermediate_size": 16, "mamba_d_state": 4, "mamba_d_head": 16,
                            "mamba_chunk_size": 4, "layer_types": ["mamba", "attention"]}, ("ids",)),
    "Hiera": ("HieraConfig", "HieraModel", {"image_size": [64, 64], "embed_dim": 8, "depths": [1] * 4,
              "num_heads": [1, 2, 2, 4]}, ("pixels",)),
    "HuBERT": ("HubertConfig", "HubertModel", _SOUND, ("sound",)),
    "Jamba": ("JambaConfig", "JambaForCausalLM",
              {**_GROUPED, "num_hidden_layers": 3, "num_experts": 4, "num_experts_per_tok": 2,
               "expert_layer_period": 2, "expert_layer_offset": 1, "attn_layer_period": 3, "attn_layer_offset": 1,
               "mamba_d_state": 4, "use_mamba_kernels": False}, ("ids",)),
    "LayoutLM": ("LayoutLMConfig", "LayoutLMModel", _TEXT, ("ids",)),
    "LayoutLMv3": ("LayoutLMv3Config", "LayoutLMv3Model",
                   {**_TEXT, "max_2d_position_embeddings": 64, "coordinate_size": 6, "shape_size": 4,
                    "visual_embed": False, "max_position_embeddings": 64}, ("ids", "mask")),
    "LeViT": ("LevitConfig", "LevitModel", {"image_size": 64, "hidden_sizes": [16, 24, 32], "depths": [1] * 3,
              "num_attention_heads": [2, 3, 4], "key_dim": [8] * 3, "drop_path_rate": 0,
              "mlp_ratio": [2] * 3, "attention_ratio": [2] * 3}, ("pixels",)),
    "LFM2": ("Lfm2Config", "Lfm2ForCausalLM",
             {**_GROUPED, "layer_types": ["conv", "full_attention"], "block_multiple_of": 8}, ("ids",)),
    "Llama": ("LlamaConfig", "LlamaForCausalLM", _GROUPED, ("ids", "mask")),
    "M2M100": ("M2M100Config", "M2M100Model", _SEQ2SEQ, ("ids", "decoder")),
    "Mamba": ("MambaConfig", "MambaForCausalLM", {"vocab_size": 99, "hidden_size": 32, "state_size": 4,
              "num_hidden_layers": 2, "use_cache": False}, ("ids",)),
    "Mamba-2": ("Mamba2Config", "Mamba2ForCausalLM", {"vocab_size": 99, "hidden_size": 32, "state_size": 8,
                "num_hidden_layers": 2, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8,
                "use_cache": False}, ("ids",)),
    "Marian": ("MarianConfig", "MarianModel", {**_SEQ2SEQ, "pad_token_id": 1, "decoder_start_token_id": 1},
               ("ids", "decoder")),
    "Mistral": ("MistralConfig", "MistralForCausalLM", {**_GROUPED, "sliding_window": 4}, ("ids",)),
    "MobileBERT": ("MobileBertConfig", "MobileBertModel", {**_TEXT, "embedding_size": 16, "intra_bottleneck_size": 16,
                   "num_feedforward_networks": 2}, ("ids", "mask")),
    "ModernBERT": ("ModernBertConfig", "ModernBertModel",
                   {**_TEXT, "local_attention": 4, "global_attn_every_n_layers": 2, "pad_token_id": 0,
                    "cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1, "eos_token_id": 2}, ("ids", "mask")),
    "Mixtral": ("MixtralConfig", "MixtralForCausalLM", {**_GROUPED, "num_local_experts": 4}, ("ids",)),
    "MPT": ("MptConfig", "MptForCausalLM", {"vocab_size": 99, "d_model": 32, "n_layers": 2, "n_heads": 4,
            "expansion_ratio": 2, "max_seq_len": 64, "use_cache": False}, ("ids",)),
    "MPNet": ("MPNetConfig", "MPNetModel", _TEXT, ("ids", "mask")),
    "Nemotron": ("NemotronConfig", "NemotronForCausalLM", _GROUPED, ("ids",)),
    "OLMo 2": ("Olmo2Config", "Olmo2ForCausalLM", _GROUPED, ("ids",)),
    "OLMoE": ("OlmoeConfig", "OlmoeForCausalLM", {**_GROUPED, "num_experts": 4, "num_experts_per_tok": 2},
              ("ids",)),
    "Nyströmformer": ("NystromformerConfig", "NystromformerModel",
                      {**_TEXT, "num_landmarks": 10, "segment_means_seq_len": 10}, ("ids",)),
    "OPT": ("OPTConfig", "OPTForCausalLM", {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "ffn_dim": 64,
            "num_attention_heads": 4, "max_position_embeddings": 64, "word_embed_proj_dim": 32, "use_cache": False},
            ("ids", "mask")),
    "OWL-ViT vision": ("OwlViTVisionConfig", "OwlViTVisionModel", _VISION, ("pixels",)),
    "PatchTST": ("PatchTSTConfig", "PatchTSTForPrediction",
                 {"num_input_channels": 3, "context_length": 24, "prediction_length": 6, "patch_length": 4,
                  "patch_stride": 4, "d_model": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64},
                 ("series",)),
    "Pegasus": ("PegasusConfig", "PegasusModel", _SEQ2SEQ, ("ids", "decoder")),
    "Perceiver": ("PerceiverConfig", "PerceiverForMaskedLM",
                  {"vocab_size": 99, "max_position_embeddings": 10, "d_model": 32, "d_latents": 32, "num_latents": 6,
                   "num_self_attends_per_block": 2, "num_self_attention_heads": 4, "num_cross_attention_heads": 4,
                   "qk_channels": 32, "v_channels": 32}, ("inputs",)),
    "Phi": ("PhiConfig", "PhiForCausalLM", {**_TEXT, "use_cache": False}, ("ids",)),
    "Phi-3": ("Phi3Config", "Phi3ForCausalLM", {**_GROUPED, "pad_token_id": 0}, ("ids",)),
    "ProphetNet": ("ProphetNetConfig", "ProphetNetModel",
                   {"vocab_size": 99, "hidden_size": 32, "num_encoder_layers": 1, "num_decoder_layers": 1,
                    "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4, "encoder_ffn_dim": 64,
                    "decoder_ffn_dim": 64, "use_cache": False, "max_position_embeddings": 64}, ("ids", "decoder")),
    "PVT-v2": ("PvtV2Config", "PvtV2Model", {"image_size": 32, "hidden_sizes": [8, 16, 24, 32], "depths": [1] * 4,
               "num_attention_heads": [1, 2, 2, 4], "mlp_ratios": [2] * 4}, ("pixels",)),
    "Qwen2": ("Qwen2Config", "Qwen2ForCausalLM", _GROUPED, ("ids",)),
    "Qwen2-MoE": ("Qwen2MoeConfig", "Qwen2MoeForCausalLM", {**_GROUPED, "num_experts": 4, "num_experts_per_tok": 2,
                  "moe_intermediate_size": 16, "shared_expert_intermediate_size": 32}, ("ids",)),
    "Qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {**_GROUPED, "head_dim": 8}, ("ids",)),
    "Qwen3-MoE": ("Qwen3MoeConfig", "Qwen3MoeForCausalLM", {**_GROUPED, "head_dim": 8, "num_experts": 4,
                  "num_experts_per_tok": 2, "moe_intermediate_size": 16}, ("ids",)),
    "RecurrentGemma": ("RecurrentGemmaConfig", "RecurrentGemmaForCausalLM",
                       {**_GROUPED, "num_hidden_layers": 3, "head_dim": 8, "lru_width": 32,
                        "attention_window_size": 4}, ("ids",)),
    "RegNet": ("RegNetConfig", "RegNetModel", {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32],
               "depths": [1] * 4, "groups_width": 8}, ("pixels",)),
    "RoBERTa": ("RobertaConfig", "RobertaModel", _TEXT, ("ids", "mask")),
    "RoFormer": ("RoFormerConfig", "RoFormerModel", {**_TEXT, "embedding_size": 32, "max_position_embeddings": 64},
                 ("ids", "mask")),
    "RWKV": ("RwkvConfig", "RwkvForCausalLM", {"vocab_size": 99, "hidden_size": 32, "attention_hidden_size": 32,
             "num_hidden_layers": 2, "use_cache": False}, ("ids",)),
    "SAM vision": ("SamVisionConfig", "SamVisionModel", {"hidden_size": 32, "output_channels": 16,
                   "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 4,
                   "window_size": 3, "mlp_dim": 64, "global_attn_indexes": [1], "num_pos_feats": 8}, ("pixels",)),
    "SegFormer": ("SegformerConfig", "SegformerForSemanticSegmentation",
                  {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "decoder_hidden_size": 16,
                   "num_attention_heads": [1, 2, 2, 4]}, ("pixels",)),
    "SEW": ("SEWConfig", "SEWModel", {**_SOUND, "squeeze_factor": 2}, ("sound",)),
    "SigLIP": ("SiglipConfig", "SiglipModel", {"text_config": {**_TEXT, "max_position_embeddings": 32},
               "vision_config": _VISION}, ("ids", "pixels")),
    "SqueezeBERT": ("SqueezeBertConfig", "SqueezeBertModel", {**_TEXT, "embedding_size": 32}, ("ids", "mask")),
    "StableLM": ("StableLmConfig", "StableLmForCausalLM", _GROUPED, ("ids",)),
    "Starcoder2": ("Starcoder2Config", "Starcoder2ForCausalLM", {**_GROUPED, "sliding_window": 4}, ("ids",)),
    "Swin": ("SwinConfig", "SwinModel", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2],
             "num_heads": [2, 4], "window_size": 4}, ("pixels",)),
    "Swin2SR": ("Swin2SRConfig", "Swin2SRForImageSuperResolution",
                {"image_size": 32, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4,
                 "upscale": 2}, ("pixels",)),
    "Swin V2": ("Swinv2Config", "Swinv2Model", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2],
                "num_heads": [2, 4], "window_size": 4}, ("pixels",)),
    "T5": ("T5Config", "T5ForConditionalGeneration", _T5, ("ids", "decoder")),
    "TimeSformer": ("TimesformerConfig", "TimesformerModel", {**_IMAGE, "num_frames": 3}, ("video",)),
    "UMT5": ("UMT5Config", "UMT5Model", _T5, ("ids", "decoder")),
    "VideoMAE": ("VideoMAEConfig", "VideoMAEModel", {**_IMAGE, "num_frames": 4, "tubelet_size": 2}, ("video",)),
    "ViT": ("ViTConfig", "ViTForImageClassification", _IMAGE, ("pixels",)),
    "wav2vec 2.0": ("Wav2Vec2Config", "Wav2Vec2Model", _SOUND, ("sound",)),
    "WavLM": ("WavLMConfig", "WavLMModel", _SOUND, ("sound",)),
    "Whisper": ("WhisperConfig", "WhisperForConditionalGeneration",
                {**{key: value for key, value in _SEQ2SEQ.items() if key != "max_position_embeddings"},
                 "num_mel_bins": 16, "max_source_positions": 12, "max_target_positions": 24, "pad_token_id": 0,
                 "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}, ("features", "decoder")),
    "XLNet": ("XLNetConfig", "XLNetModel", {"vocab_size": 99, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64,
              "initializer_range": 0.2, "use_mems_eval": False}, ("ids",)),
    "YOLOS": ("YolosConfig", "YolosForObjectDetection", {**_IMAGE, "image_size": [32, 32], "num_detection_tokens": 5},
              ("pixels",)),
    "Zamba2": ("Zamba2Config", "Zamba2ForCausalLM",
               {**_GROUPED, "mamba_d_state": 4, "n_mamba_heads": 4, "num_mem_blocks": 1, "use_mamba_kernels": False,
                "mamba_ngroups": 1, "chunk_size": 4, "layers_block_type": ["mamba", "hybrid"]}, ("ids",)),
}  # fmt: skip

# By name of timm the extent of a square image, and what it is made with.
_TIMM: dict[str, tuple[int, dict[str, Any]]] = {
    "convnext_atto": (64, {}), "densenet121": (64, {}), "efficientnet_b0": (64, {}), "ghostnet_100": (64, {}),
    "mixer_s32_224": (64, {"img_size": 64}), "mnasnet_100": (64, {}), "mobilenetv2_100": (64, {}),
    "mobilenetv3_small_100": (64, {}), "mobilevit_xxs": (64, {}), "poolformer_s12": (64, {}),
    "regnety_002": (64, {}), "repvgg_a0": (64, {}), "resnet18": (64, {}), "resnet50": (64, {}),
    "resnext50_32x4d": (64, {}), "seresnet50": (64, {}), "vgg11": (32, {}),
    "swin_tiny_patch4_window7_224": (56, {"img_size": 56, "depths": (2, 2), "num_heads": (2, 4), "embed_dim": 16}),
    "vit_tiny_patch16_224": (64, {"img_size": 64}),
}  # fmt: skip

MODELS = [*(f"transformers {name}" for name in _TRANSFORMERS), *(f"timm {name}" for name in _TIMM)]
"""The names of the models, each behind its package's."""

_LARGE = ("ConvNeXt V2", "DETR", "GLPN", "Hiera", "LeViT", "SegFormer")
"""The models of transformers whose images are larger."""

_PARAMETERS = {"ids": "input_ids", "mask": "attention_mask", "decoder": "decoder_input_ids", "pixels": "pixel_values",
               "sound": "input_values", "features": "input_features", "series": "past_values", "video": "pixel_values",
               "inputs": "inputs"}  # fmt: skip


class _Named(torch.nn.Module):
    """A model that takes its arguments by position."""

    def __init__(self, model: torch.nn.Module, parameters: Sequence[str]) -> None:
        super().__init__()
        self.model, self.parameters_of = model, tuple(parameters)

    def forward(self, *given: torch.Tensor) -> Any:
        return self.model(**dict(zip(self.parameters_of, given)))


def _example(kind: str, size: int, frames: int = 0) -> torch.Tensor:
    if kind in ("ids", "decoder", "inputs"):
        return torch.randint(3, 98, (2, 7 if kind == "decoder" else 10))
    if kind == "mask":
        return torch.arange(10)[None] < torch.tensor([[10], [7]])
    shapes = {"pixels": (2, 3, size, size), "sound": (2, 400), "features": (2, 16, 24), "series": (2, 24, 3),
              "video": (2, frames, 3, size, size)}  # fmt: skip
    return torch.randn(shapes[kind])


def _stirred(model: torch.nn.Module) -> torch.nn.Module:
    """The model with noise on what initialization leaves constant, so that each weight matters to the result."""
    with torch.no_grad():
        for name, one in [*model.named_parameters(), *model.named_buffers()]:
            if one.is_floating_point() and one.numel() > 1 and (one == one.flatten()[0]).all():
                if name.endswith("running_var"):
                    one.uniform_(0.5, 1.5)
                else:
                    one.add_(0.1 * torch.randn_like(one))
    return model.eval()


# Models whose first call divides weights in place.
_PREPARED = {"RWKV"}


def made(name: str) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """A model with random weights, and an example of its inputs; the same in each call."""
    torch.manual_seed(0)
    package, _, own = name.partition(" ")
    if package == "timm":
        import timm

        size, options = _TIMM[own]
        return _stirred(timm.create_model(own, pretrained=False, **options)), (_example("pixels", size),)
    import transformers

    config, kind, options, inputs = _TRANSFORMERS[own]
    make: Callable[..., Any] = getattr(transformers, kind)
    model = make(getattr(transformers, config)(**options))
    size = 64 if own in _LARGE else 32
    examples = tuple(_example(one, size, options.get("num_frames", 0)) for one in inputs)
    model = _stirred(_Named(model, [_PARAMETERS[one] for one in inputs]))
    if own in _PREPARED:
        with torch.no_grad():
            model(*examples)
    return model, examples
