//! Microseconds per mail: the crate `mail-parser` alone, and this reader. Standard input contains mails,
//! each after its length (four bytes, little endian). Run by `benchmarks/bench_mail.py`.

use _core::mail::Mail;
use mail_parser::MessageParser;
use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

fn main() {
    let mut data = Vec::new();
    std::io::stdin().read_to_end(&mut data).expect("standard input is readable");
    let (mut mails, mut rest) = (Vec::new(), data.as_slice());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (mail, next) = after.split_at(u32::from_le_bytes(*length) as usize);
        mails.push(mail);
        rest = next;
    }
    let crate_alone = || mails.iter().for_each(|raw| drop(MessageParser::default().parse(*raw)));
    let reader =
        || mails.iter().for_each(|raw| drop(black_box(Mail::read(raw, 8_192).text(8_192))));
    for work in [&crate_alone as &dyn Fn(), &reader] {
        let rounds = (0..7).map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64()
        });
        let best = rounds.fold(f64::INFINITY, f64::min);
        println!("{:.1}", 1e6 * best / mails.len() as f64);
    }
}
