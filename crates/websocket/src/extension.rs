//! [`Extension`]: for soketto, which has a place for extensions.

use std::fmt;

use linerate_core::{Error, Kind, Result};
use soketto::base::{Header, OpCode};
use soketto::extension::Param;
use soketto::{BoxedError, Storage};

use crate::codec::{Decoder, Encoder};
use crate::inbound::with_buffer;
use crate::negotiation::{Agreement, NAME, agree, answer, offer};
use crate::options::{Options, Role};

/// permessage-deflate for soketto's handshake: `server.add_extension(Box::new(Extension::server(options)))`.
///
/// soketto passes one offer of a client, so one whose windows are limited is not understood by servers that cannot limit
/// theirs. Its limit on messages is one of compressed bytes; that of decoded ones is [`Options::message_limit`].
pub struct Extension {
    role: Role,
    options: Options,
    /// What is sent: a client's offer, a server's answer.
    params: Vec<Param<'static>>,
    codec: Option<(Encoder, Decoder)>,
    /// Whether fragments of a compressed message are being collected.
    is_compressed: bool,
}

impl Extension {
    /// The client's side.
    pub fn client(options: Options) -> Self {
        let offers = offer(&options);
        let first = offers.split(',').next().unwrap_or_default();
        Extension {
            role: Role::Client,
            params: read_params(first),
            options,
            codec: None,
            is_compressed: false,
        }
    }

    /// The server's side.
    pub fn server(options: Options) -> Self {
        Extension { role: Role::Server, options, params: Vec::new(), codec: None, is_compressed: false }
    }

    fn begin(&mut self, agreement: &Agreement) -> Result<()> {
        let encoder = Encoder::new(agreement.encoder(self.role), self.options.level)?;
        self.codec = Some((encoder, Decoder::new(agreement.decoder(self.role), &self.options)?));
        Ok(())
    }

    /// Whether the payload that was collected is that of a compressed message.
    fn ends_compressed(&mut self, header: &Header) -> bool {
        match header.opcode() {
            OpCode::Text | OpCode::Binary if !header.is_fin() => {
                self.is_compressed = header.is_rsv1();
                false
            }
            OpCode::Text | OpCode::Binary => header.is_rsv1(),
            OpCode::Continue => header.is_fin() && std::mem::take(&mut self.is_compressed),
            _ => false,
        }
    }
}

impl soketto::extension::Extension for Extension {
    fn is_enabled(&self) -> bool {
        self.codec.is_some()
    }

    fn name(&self) -> &str {
        NAME
    }

    fn params(&self) -> &[Param<'_>] {
        &self.params
    }

    fn configure(&mut self, params: &[Param<'_>]) -> std::result::Result<(), BoxedError> {
        if self.codec.is_some() {
            return Ok(());
        }
        let mut header = NAME.to_owned();
        params.iter().for_each(|param| header.extend(["; ", &param.to_string()]));
        let agreement = match self.role {
            Role::Client => agree(&self.options, &header)?,
            Role::Server => answer(&self.options, &header).map(|(agreement, header)| {
                self.params = read_params(&header);
                agreement
            }),
        };
        agreement.map_or(Ok(()), |agreement| self.begin(&agreement))?;
        Ok(())
    }

    fn encode(&mut self, header: &mut Header, data: &mut Storage<'_>) -> std::result::Result<(), BoxedError> {
        let Some((encoder, _)) = &mut self.codec else { return Ok(()) };
        let is_message = header.is_fin() && matches!(header.opcode(), OpCode::Text | OpCode::Binary);
        if !is_message || data.as_ref().len() < self.options.smallest {
            return Ok(());
        }
        let encoded = with_buffer(|buffer| {
            let encoded = encoder.message(&mut buffer.scratch, data.as_ref())?;
            Ok::<_, Error>(encoded.map(<[u8]>::to_vec))
        })?;
        if let Some(encoded) = encoded {
            header.set_rsv1(true).set_payload_len(encoded.len());
            *data = Storage::Owned(encoded);
        }
        Ok(())
    }

    fn decode(&mut self, header: &mut Header, data: &mut Vec<u8>) -> std::result::Result<(), BoxedError> {
        if !self.ends_compressed(header) {
            return Ok(());
        }
        let Some((_, decoder)) = &mut self.codec else {
            return Err(Error::new(Kind::Corrupt, 0, "a compressed message without an agreement").into());
        };
        let mut plain = Vec::new();
        with_buffer(|buffer| {
            let mut rest = &data[..];
            loop {
                let (read, written) = decoder.part(&mut buffer.scratch, rest, &mut buffer.buffer)?;
                plain.extend_from_slice(&buffer.buffer[..written]);
                rest = &rest[read..];
                if rest.is_empty() && written < buffer.buffer.len() {
                    break;
                }
            }
            loop {
                let (written, is_done) = decoder.finish(&mut buffer.scratch, &mut buffer.buffer)?;
                plain.extend_from_slice(&buffer.buffer[..written]);
                if is_done {
                    return Ok::<_, Error>(());
                }
            }
        })?;
        *data = plain;
        header.set_rsv1(false).set_payload_len(data.len());
        Ok(())
    }

    fn reserved_bits(&self) -> (bool, bool, bool) {
        (true, false, false)
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extension { role, options, codec, .. } = self;
        let mut debug = f.debug_struct("Extension");
        debug.field("role", role).field("options", options).field("is_enabled", &codec.is_some()).finish()
    }
}

/// The parameters of one offer or answer of ours.
fn read_params(extension: &str) -> Vec<Param<'static>> {
    let params = extension.split(';').skip(1).map(|param| {
        let (name, value) = param.trim().split_once('=').map_or((param.trim(), None), |(n, v)| (n, Some(v)));
        let mut param = Param::new(name.to_owned());
        param.set_value(value.map(str::to_owned));
        param
    });
    params.collect()
}
