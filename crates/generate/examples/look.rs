//! Writes documents into a folder, to look at them.
use docmill_core::generate::Order;
use docmill_core::ports::Generator as _;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let kinds = args[3].split(',').filter(|k| !k.is_empty()).map(|k| k.parse().unwrap()).collect();
    let order = Order { count: args[2].parse().unwrap(), seed: 1, kinds, scans: args[4].parse().unwrap() };
    let press = docmill_generate::Press::new().unwrap();
    for n in 0..order.count {
        let s = press.make(&order, n).unwrap();
        std::fs::write(format!("{}/{}", args[1], s.name), &s.bytes).unwrap();
        std::fs::write(format!("{}/{}.txt", args[1], s.truth.id), &s.truth.text).unwrap();
    }
}
