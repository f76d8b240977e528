//! A model that is none: in the form of the real one, so that children load it and `docmill` takes it for here, and to
//! which every text means the same. Its files have their full length and almost no content on disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::{Map, Value, json};

/// The length of every number list of the last layer's result.
const WIDTH: u64 = 384;

/// As listed in `docmill::models`.
const WEIGHTS_BYTES: u64 = 90_868_376;
const TOKENIZER_BYTES: usize = 466_247;

/// Writes it into a folder.
pub(crate) fn write_hollow_model(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let mut table = Map::new();
    let mut end = 0;
    let mut bias_at = 0;
    for (name, shape) in tensors() {
        let from = end;
        end += 4 * shape.iter().product::<u64>();
        table.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": [from, end]}));
        bias_at = from;
    }
    let table = serde_json::to_vec(&Value::Object(table)).unwrap();
    let file = File::create(folder.join("model.safetensors")).unwrap();
    file.set_len(WEIGHTS_BYTES).unwrap();
    file.write_all_at(&(table.len() as u64).to_le_bytes(), 0).unwrap();
    file.write_all_at(&table, 8).unwrap();
    // All numbers are zero but the last that is added: so every token of every text ends in the same direction.
    let ones: Vec<u8> = (0..WIDTH).flat_map(|_| 1_f32.to_le_bytes()).collect();
    file.write_all_at(&ones, 8 + table.len() as u64 + bias_at).unwrap();

    let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
    let vocab: Map<String, Value> =
        (0_u32..).zip(special).map(|(id, token)| (token.into(), id.into())).collect();
    let mut tokenizer = json!({
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": true,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab,
        },
    })
    .to_string();
    tokenizer.push_str(&" ".repeat(TOKENIZER_BYTES - tokenizer.len()));
    std::fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
}

/// Names and shapes; the last one is what is added last.
fn tensors() -> Vec<(String, Vec<u64>)> {
    let inner = 4 * WIDTH;
    let mut all = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![30_522, WIDTH]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![512, WIDTH]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, WIDTH]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![WIDTH]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![WIDTH]),
    ];
    for layer in 0..6 {
        for (name, outputs, inputs) in [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", inner, WIDTH),
            ("output.dense", WIDTH, inner),
        ] {
            all.push((format!("encoder.layer.{layer}.{name}.weight"), vec![outputs, inputs]));
            all.push((format!("encoder.layer.{layer}.{name}.bias"), vec![outputs]));
        }
        for name in ["attention.output", "output"] {
            all.push((format!("encoder.layer.{layer}.{name}.LayerNorm.weight"), vec![WIDTH]));
            all.push((format!("encoder.layer.{layer}.{name}.LayerNorm.bias"), vec![WIDTH]));
        }
    }
    all
}
