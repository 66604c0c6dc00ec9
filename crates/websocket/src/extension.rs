//! [`Extension`]: permessage-deflate through soketto's interface for extensions.

use std::fmt;

use linerate_core::{Error, Kind, Result};
use soketto::base::{Header, OpCode};
use soketto::extension::Param;
use soketto::{BoxedError, Storage};

use crate::codec::{Decoder, Encoder};
use crate::inbound::with_buffer;
use crate::negotiation::{Agreement, NAME, agree, answer, offer};
use crate::options::{Options, Role};

/// permessage-deflate as an extension of soketto:
/// `server.add_extension(Box::new(Extension::server(options)))`.
///
/// soketto sends only one offer of a client. If the client limits the server's window, a server
/// that cannot do that declines the offer. soketto's own limit on messages counts compressed bytes;
/// [`Options::message_limit`] counts decoded ones. Messages that are sent in fragments are not
/// compressed.
pub struct Extension {
    role: Role,
    options: Options,
    /// The parameters to send: a client's offer or a server's answer.
    params: Vec<Param<'static>>,
    codec: Option<(Encoder, Decoder)>,
    /// Whether fragments of a compressed message are being collected.
    is_compressed: bool,
}

impl Extension {
    /// Creates the client's side.
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

    /// Creates the server's side.
    pub fn server(options: Options) -> Self {
        Extension { role: Role::Server, options, params: Vec::new(), codec: None, is_compressed: false }
    }

    fn begin(&mut self, agreement: &Agreement) -> Result<()> {
        let encoder = Encoder::new(agreement.encoder(self.role), self.options.level)?;
        self.codec = Some((encoder, Decoder::new(agreement.decoder(self.role), &self.options)?));
        Ok(())
    }

    /// Returns whether the frame ends a compressed message; soketto then passes the payload of the
    /// whole message. For a frame that begins a message, remembers whether the message is
    /// compressed.
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
            let what = "a message is compressed, but compression was not agreed on";
            return Err(Error::new(Kind::Corrupt, 0, what).into());
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

/// Parses the parameters of one of our offers or answers.
fn read_params(extension: &str) -> Vec<Param<'static>> {
    let params = extension.split(';').skip(1).map(|param| {
        let (name, value) = param.trim().split_once('=').map_or((param.trim(), None), |(n, v)| (n, Some(v)));
        let mut param = Param::new(name.to_owned());
        param.set_value(value.map(str::to_owned));
        param
    });
    params.collect()
}
